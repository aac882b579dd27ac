// Radiance of the fire in a place (cells), per metre: how hot it is between the cells, mapped to how that glows.
#include "lib/cell_sample.glsl" for heat
#include "render/fire.glsl"

const float DAZZLING = 6e4;  // below the largest half float

vec3 fire_at(vec3 place) {
    vec4 heat = sample_heat(place);
    return min(heat.y * fire_glow(GLOWS_FROM + heat.x) + heat.z * fire_core, DAZZLING);
}
