// How hot it is in a place between the cells, as heat.glsl has it, and how gas of such heat glows.
// FIRE_SOFT: the mean of it between the cells and between their corners. A field that is filtered between cells has a fold at
// each, which a steep glow shows as a weave; those of the two lie between each other and all but cancel.
#include "lib/cell_sample.glsl" for heat
#if FIRE_SOFT
#include "lib/cell_sample.glsl" for corners
#endif
#include "render/fire.glsl"

const float DAZZLING = 6e4;  // below the largest half float

vec3 heat_at(vec3 place) {
#if FIRE_SOFT
    // in the outermost cells the heat itself takes over: of the corners on the sides of the box only the high ones are known
    vec3 aside = mix(min(place, vec3(cells) - place), vec3(1.0), periodic), heat = sample_heat(place).xyz;
    if (DIMENSIONS == 2) aside.z = 1.0;
    vec3 share = clamp(aside, 0.0, 1.0), among = mix(min(place, vec3(cells - 1)), place, periodic);
    return 0.5 * (heat + mix(heat, sample_corners(among - 0.5).xyz, share.x * share.y * share.z));
#else
    return sample_heat(place).xyz;
#endif
}

// Radiance per metre.
vec3 fire_of(vec3 heat) {
    return min(heat.y * fire_glow(fire_kelvin.x + heat.x) + heat.z * fire_core, DAZZLING);
}
