// How the cells look, softened. Filtered between, they have no steps at the cells' size, which colours beside each other
// show. Cells.
#include "render/each_cell.glsl"
#include "render/softened.glsl" for shaded

vec4 of_cell(ivec3 cell) { return softened_shaded(cell); }
