// What fills cells that a solid has just left, where a sample finds next to no fluid: air of the ambient temperature.
#include "lib/fade.glsl"

// The scalars of `found`, whose last channel is the share that was found.
vec3 uncovered(vec4 found) {
#if SOLIDS
    found.y += ambient * (1.0 - found.w);
#endif
    return found.xyz;
}
