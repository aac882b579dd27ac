// What burns on a grid with half as many cells along each axis, 1/s: as much in all. Cells.
#include "lib/finer_cells.glsl" for fine_flame

void kernel(ivec3 cell) { flame_out = vec4(sum_of_fine_flame(cell).x / float(1 << DIMENSIONS), 0.0, 0.0, 0.0); }
