// How the cells look, softened. Filtered between, they have no steps at the cells' size, which colours beside each other
// show. Cells.
// SOFTENED: with the root of the extinction. Dense smoke is seen where it begins, before the first cell that holds
// any, and filtered between cells that surface has a fold at each. A B-spline begins as a power of the way, and its
// root evenly.
// Light that grazes such a surface falls off within a cell, at another height in each: it is evened out over three.
#include "render/each_cell.glsl"
#include "render/softened.glsl" for shaded

const float BRIGHTEST = 6e4;  // below the largest half float

vec4 of_cell(ivec3 cell) {
    vec4 soft = softened_shaded(cell, 1.0 / 6.0);
#if SOFTENED && !COLORED
    soft.rgb = softened_shaded(cell, 1.0 / 3.0).rgb;
#endif
#if SOLIDS
    // in a solid as shade.glsl has it: further in there is nothing, over which smoke would thin out and darken before the surface
    if (fetch_solid(cell).x > 0.5) soft = fetch_shaded(cell);
#endif
#if SOFTENED
    soft.w = sqrt(soft.w);
#if COLORED
    soft.rgb *= soft.w > 0.0 ? 1.0 / soft.w : 0.0;  // light of what is thinner than half floats hold is none
    soft.rgb = min(soft.rgb, BRIGHTEST);
#endif
#endif
    return soft;
}
