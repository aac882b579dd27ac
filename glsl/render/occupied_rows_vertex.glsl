// The rows of eight cells in which anything may be: two triangles for each span of strip_spread.glsl.
#include "lib/cells_corner.glsl"

uniform ivec2 strip_size;    // cells along x and y

void main() {
    int number = gl_VertexID / 6;
    ivec3 strip = ivec3(number % strips_extent.x, number / strips_extent.x % strips_extent.y, number / (strips_extent.x * strips_extent.y));
    vec2 span = fetch_strips(strip).zw;
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (!(span.x < span.y)) return;
    int low = strip.y * strip_size.y, high = min(low + strip_size.y, cell_extent.y);
    gl_Position = cells_corner(vec2(floor(span.x / 8.0), ceil(span.y / 8.0)), vec2(low, high), strip.z);
}
