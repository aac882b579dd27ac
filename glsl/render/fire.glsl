// Radiance that hot gas sends out, per metre.

uniform sampler2D fire_table;  // by temperature in kelvin, FIRE_COLDEST .. FIRE_HOTTEST, finer than a screen tells apart
uniform vec3 fire_kelvin;      // K at temperature 0, K per temperature, K of the hottest
uniform float fire_intensity;  // 1/m
uniform vec3 fire_core;        // of burning fuel, per burn of 1/s
uniform float fire_soot;       // density of smoke of which most glows, or 0: the gas itself glows

// Of gas that hot, where all of it glows.
vec3 fire_glow(float kelvin) {
    const float last = float(FIRE_TABLE - 1), pace = last / (FIRE_HOTTEST - FIRE_COLDEST);
    float at = clamp((min(kelvin, fire_kelvin.z) - FIRE_COLDEST) * pace + 0.5, 0.0, last);
    return fire_intensity * texelFetch(fire_table, ivec2(int(at), 0), 0).rgb;
}

// Share of it that does.
float fire_share(float density) {
    float soot = max(density, 0.0) / max(fire_soot, 1e-6);
    return fire_soot > 0.0 ? 1.0 - exp(-soot * soot) : 1.0;  // soot grows from what is there already
}

// Share of the core's light that is left: radicals send it out, which are gone before soot glows. Light of both would mix to
// pink, as the first soot is red; it glows a hundred times as bright as they do, so a little of it must end them.
float core_share(float density) {
    float soot = 6.0 * max(density, 0.0) / max(fire_soot, 1e-6);
    return fire_soot > 0.0 ? exp(-soot * soot) : 1.0;
}

vec3 fire_emission(float temperature, float burn, float density) {
    float kelvin = fire_kelvin.x + fire_kelvin.y * temperature;
    return fire_share(density) * fire_glow(kelvin) + core_share(density) * fire_core * burn;
}
