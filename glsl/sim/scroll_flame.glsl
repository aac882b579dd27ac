// What burnt, in a box that has been moved on by whole cells; nothing burns in what comes in, 1/s. Cells.
#include "lib/came_from.glsl"

void kernel(ivec3 cell) {
    ivec3 from = came_from(cell);
    flame_out = from == in_box(from) ? fetch_flame(from) : vec4(0.0);
}
