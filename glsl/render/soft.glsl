// How the cells look, softened. Filtered between, they have no steps at the cells' size, which colours beside each other
// show. Cells.
// SOFTENED: with the root of the extinction. Dense smoke is seen where it begins, before the first cell that holds
// any, and filtered between cells that surface has a fold at each. A B-spline begins as a power of the way, and its
// root evenly.
#include "render/each_cell.glsl"
#include "render/softened.glsl" for shaded

const float BRIGHTEST = 6e4;  // below the largest half float

vec4 of_cell(ivec3 cell) {
#if SOLIDS
    // in a solid as shade.glsl has it: further in there is nothing, over which smoke would thin out and darken before the surface
    vec4 soft = fetch_solid(cell).x > 0.5 ? fetch_shaded(cell) : softened_shaded(cell);
#else
    vec4 soft = softened_shaded(cell);
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
