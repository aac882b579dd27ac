// The vorticity confinement of Fedkiw, Stam & Jensen (2001): strength * h * (N x omega), N the direction in which
// |omega| grows.
#include "lib/box.glsl"

uniform float strength;  // 1/s

// Confinement of a cell, m/s^2. spin: its curl, 1/s, and the length of that; growth: of that length along each axis.
vec3 confined(vec4 spin, vec3 growth) {
    // no direction where it grows by its rounding alone
    vec3 towards = growth / (length(growth) + 1e-5 * spin.w + 1e-30);
    return strength * cell_size * cross(towards, spin.xyz);
}
