// The rows of eight cells in which anything may be: two triangles round the spans of a few strips one above the other,
// see strip_spread.glsl.
#include "lib/cells_corner.glsl"
#include "lib/quotient.glsl"

uniform ivec2 strip_size;    // cells along x and y
uniform int grouped;         // strips that two triangles are drawn round

void main() {
    ivec3 groups = ivec3(strips_extent.x, (strips_extent.y + grouped - 1) / grouped, strips_extent.z);
    ivec3 strip = counted(int(uint(gl_VertexID) / 6u), groups);
    strip.y *= grouped;
    int end = min(strip.y + grouped, strips_extent.y);
    vec4 room = vec4(1e6, -1e6, 1e6, -1e6);  // first cell and the one after the last, the same of strips
    do {
        vec2 span = fetch_strips(strip).zw;
        if (span.x < span.y) room = vec4(min(room.x, span.x), max(room.y, span.y), min(room.z, float(strip.y)), float(strip.y + 1));
    } while (++strip.y < end);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (!(room.x < room.y)) return;
    vec2 rows = min(room.zw * float(strip_size.y), float(cell_extent.y));
    gl_Position = cells_corner(vec2(floor(room.x / 8.0), ceil(room.y / 8.0)), rows, strip.z);
}
