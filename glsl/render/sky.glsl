// A sky of the scene's own light: the ambient light, deeper overhead and pale towards the horizon, and the haze round
// the sun, wide where it lies low. No measured sky: it only goes with whatever light there is. Linear radiance.
#include "render/phase.glsl"

// towards: the way one looks, unit length.
vec3 sky(vec3 towards) {
    float height = abs(towards.y), sun_height = abs(sun_direction.y);
    float c = -dot(towards, sun_direction);
    vec3 air = ambient * mix(0.75, 0.25, smoothstep(0.0, 0.7, height));
    float haze = exp(-5.0 * height) * exp(-4.0 * sun_height);  // the way through the air is long there
    return air + sun_color * (0.004 * phase(c, 0.7) + 0.05 * haze * phase(c, 0.25));
}
