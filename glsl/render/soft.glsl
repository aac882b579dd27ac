// How the cells look, as the cubic B-spline of them has it: each and its neighbours 1 : 4 : 1 along each axis. Cells.
// Filtered between, it has no steps at the cells' size, which colours beside each other show.
#define ASIDE (1.0 / 6.0)
#include "render/each_cell.glsl"
#include "render/softened.glsl" for shaded

vec4 of_cell(ivec3 cell) { return softened_shaded(cell); }
