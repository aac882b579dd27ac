// The cells of a volume that a pass writes: two triangles for each strip's span, or one triangle over all.
#include "lib/cells_corner.glsl"
#include "lib/quotient.glsl"

uniform bool whole;

void main() {
    if (whole) {
        gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
        return;
    }
    int number = int(uint(gl_VertexID) / 6u);
    ivec3 strip = counted(number, strip_extent);
    vec2 span = fetch_strips(strip).zw;
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (!(span.x < span.y)) return;
    int low = strip.y * STRIP_ROWS, high = min(low + STRIP_ROWS, cells.y);
    gl_Position = cells_corner(span, vec2(low, high), strip.z);
}
