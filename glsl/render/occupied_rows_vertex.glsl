// The rows of eight cells, by four, in which anything may be: two triangles round the spans of a few strips one above
// the other, see strip_spread.glsl.
#include "lib/cells_corner.glsl"
#include "lib/joined_strips.glsl"
#include "lib/nowhere.glsl"

uniform ivec2 strip_size;    // cells along x and y
uniform int joins;           // strips that two triangles are drawn round

void main() {
    vec4 span;
    int slice = joined_strips(int(uint(gl_VertexID) / 6u), strips_extent, joins, strip_size, span);
    gl_Position = NOWHERE;
    vec2 across = vec2(floor(span.x / 8.0), ceil(span.y / 8.0)), up = vec2(floor(span.z / 4.0), ceil(span.w / 4.0));
    if (span.x < span.y) gl_Position = cells_corner(across, up, slice);
}
