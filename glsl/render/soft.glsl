// How the cells look, softened. Filtered between, they have no steps at the cells' size, which colours beside each other
// show. Cells.
// SOFTENED: with the root of the extinction. Dense smoke is seen where it begins, before the first cell that holds
// any, and filtered between cells that surface has a fold at each. A B-spline begins as a power of the way, and its
// root evenly.
#include "render/each_cell.glsl"
#include "render/softened.glsl" for shaded

vec4 of_cell(ivec3 cell) {
    vec4 soft = softened_shaded(cell);
#if SOFTENED
    soft.w = sqrt(soft.w);
#if COLORED
    soft.rgb /= max(soft.w, 1e-10);
#endif
#endif
    return soft;
}
