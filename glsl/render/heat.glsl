// How hot the gas is, for rays to look up between cells and then map to how it glows. Of each cell, or with CORNERS of
// the corner between it and the next along each axis: K above that of temperature 0; the share of what is so hot that
// glows; what burns clear of soot (1/s).
// Softened, so that a flame's outline shows no corners of cells. What is too cold to glow counts as it is: the outline,
// which lies between it and what glows, would have steps otherwise.
#include "render/each_cell.glsl"
#include "render/softened.glsl" for scalars
#if BURNING
#include "render/softened.glsl" for flame
#endif
#include "render/fade.glsl"
#include "render/fire.glsl"

const float HOTTER = 2.0;  // than the hottest that is told apart: beside cold gas its edge lies further out
const float MOST = 6e4;    // below the largest half float

vec4 of_cell(ivec3 cell) {
    const float ends = CORNERS == 1 ? 1.0 / 48.0 : 1.0 / 6.0;
    vec4 here = softened_scalars(cell, ends);
    float burn = 0.0, there = fade(vec3(cell) + (CORNERS == 0 ? 0.5 : 1.0));
#if BURNING
    burn = softened_flame(cell, ends).x;
#endif
#if SOLIDS
    float fluid = max(here.w, 1e-3);  // the mean over that alone; in a solid that of the fluid beside it
    here /= fluid;
    burn /= fluid;
#endif
    float hot = fire_kelvin.y * here.y, most = HOTTER * fire_kelvin.z;
    hot = hot > -most ? min(hot, most) : -most;
    return vec4(hot, there * fire_share(here.x), clamp(there * core_share(here.x) * burn, 0.0, MOST), 0.0);
}
