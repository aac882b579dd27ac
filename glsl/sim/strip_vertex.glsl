// The cells of a volume that a pass writes: two triangles round the spans of JOINED strips, or one triangle over all.
#include "lib/cells_corner.glsl"
#include "lib/joined_strips.glsl"
#include "lib/nowhere.glsl"
#if PLACED
#include "lib/texel_place.glsl"
#else
vec4 placed(vec4 position) { return position; }
#endif

uniform bool whole;

void main() {
    if (whole) {
        gl_Position = placed(vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0));
        return;
    }
    vec4 span;
    int slice = joined_strips(int(uint(gl_VertexID) / 6u), strip_extent, JOINED, ivec2(STRIP_WIDTH, STRIP_ROWS), span);
    gl_Position = placed(span.x < span.y ? cells_corner(span.xy, span.zw, slice) : NOWHERE);
}
