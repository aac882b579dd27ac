// Radiance that hot gas sends out, per metre.
#include "lib/between.glsl"

uniform sampler2D fire_table;  // by temperature in kelvin, FIRE_COLDEST .. FIRE_HOTTEST
uniform vec3 fire_kelvin;      // K at temperature 0, K per temperature, K of the hottest
uniform float fire_intensity;  // 1/m
uniform vec3 fire_core;        // of burning fuel, per burn of 1/s
uniform float fire_soot;       // density of smoke of which most glows, or 0: the gas itself glows

vec3 fire_emission(float temperature, float burn, float density) {
    float kelvin = min(fire_kelvin.x + fire_kelvin.y * temperature, fire_kelvin.z);
    float at = clamp((kelvin - FIRE_COLDEST) / (FIRE_HOTTEST - FIRE_COLDEST), 0.0, 1.0);
    float size = float(textureSize(fire_table, 0).x);
    vec3 emitted = between(fire_table, vec2((at * (size - 1.0) + 0.5) / size, 0.5)).rgb;
    float soot = max(density, 0.0) / max(fire_soot, 1e-6);
    float glows = fire_soot > 0.0 ? 1.0 - exp(-soot * soot) : 1.0;  // soot grows from what is there already
    return fire_intensity * glows * emitted + fire_core * burn;
}
