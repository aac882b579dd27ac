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
    return 0.5 * (sample_heat(place).xyz + sample_corners(place - 0.5).xyz);
#else
    return sample_heat(place).xyz;
#endif
}

// Radiance per metre.
vec3 fire_of(vec3 heat) {
    return min(heat.y * fire_glow(fire_kelvin.x + heat.x) + heat.z * fire_core, DAZZLING);
}
