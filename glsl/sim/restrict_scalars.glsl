// Scalars on a grid with half as many cells along each axis: their means over the fluid in a cell. Last channel: 1
// where there is any. Cells.
#include "lib/finer_cells.glsl" for fine_scalars

void kernel(ivec3 cell) {
    vec4 sum = sum_of_fine_scalars(cell);
    scalars_out = sum.w > 0.01 ? vec4(sum.xyz / sum.w, 1.0) : vec4(0.0);
}
