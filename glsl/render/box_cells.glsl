// The cells of a block's box, see occupied_boxes.glsl.
#include "lib/quotient.glsl"

ivec3 cell_of(float number) { return counted(int(number + 0.5), ivec3(EDGE)); }

// Low and high corner (cells) of the box `held` of `block`.
void box_cells(ivec3 block, vec2 held, out vec3 low, out vec3 high) {
    low = vec3(EDGE * block + cell_of(held.x));
    high = vec3(EDGE * block + cell_of(held.y) + 1);
}
