// Sources: up to EMITTERS shapes, four vec4 each.
#include "lib/box.glsl"

uniform vec4 emitters[4 * EMITTERS];  // see emitter_weight, and the kernels for the last two
uniform int emitter_count;

// Share of emitter `n` at `p` (m from the low corner): 1 inside the shape, a Gaussian edge outside.
// Its first vec4: centre (m), 1 for a sphere; its second: radius or half size (m), width of the edge (m).
float emitter_weight(int n, vec3 p) {
    vec4 place = emitters[4 * n], extent = emitters[4 * n + 1];
    vec3 d = p - place.xyz;
#if DIMENSIONS == 2
    d.z = 0.0;
#endif
    float outside = place.w > 0.5 ? max(length(d) - extent.x, 0.0) : length(max(abs(d) - extent.xyz, 0.0));
    float t = outside / extent.w;
    return t < 4.0 ? exp(-t * t) : 0.0;
}
