// The corners of what a block holds, for one box round all: for each block a triangle over the middles of the four
// texels in a row that are the target, with no corner outside, see nowhere.glsl.
#include "render/box_cells.glsl"
#include "lib/nowhere.glsl"
#include "lib/quotient.glsl"

flat out vec3 shown_low, shown_high, stopping_low, stopping_high;  // cells; the opposite of the low corners

const vec3 NONE = vec3(-1e6);

void main() {
    int number = int(uint(gl_VertexID) / 3u), corner = gl_VertexID - 3 * number;
    ivec3 block = counted(number, boxes_extent);
    vec4 held = fetch_boxes(block);
    shown_low = shown_high = stopping_low = stopping_high = NONE;
    if (held.x >= 0.0) {
        box_cells(block, held.xy, shown_low, shown_high);
        shown_low = -shown_low;
    }
    if (held.z >= 0.0) {
        box_cells(block, held.zw, stopping_low, stopping_high);
        stopping_low = -stopping_low;
    }
    bool some = max(held.x, held.z) >= 0.0;
    gl_Position = some ? vec4(corner < 2 ? vec2(-1.0, 2 * corner - 1) : vec2(1.0, 0.0), 0.0, 1.0) : NOWHERE;
}
