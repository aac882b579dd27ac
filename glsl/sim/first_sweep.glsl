// The first sweep of successive over-relaxation of laplacian(pressure) = divergence / dt, m^2/s^2, from pressure 0: red
// cells, whose x + y + z is even, then black ones. These need the red ones round them, worked out here again, which
// costs less than a pass. Packed: four cells along x.
#include "lib/overshoot.glsl"
#if !WEIGHTED
#include "lib/open_count.glsl"
#endif

uniform float scale;   // cell_size^2 / dt, m^2/s

// What the operator below reads: of red cells what solves them where all others are 0, of black ones 0.
vec4 fetch_pressure(ivec3 pack) {
#if WEIGHTED
    vec4 diagonal = fetch_weights_sum(pack);
#else
    vec4 diagonal = open_count(pack);
#endif
    bvec4 fluid = greaterThan(diagonal, vec4(0.0));
    vec4 p = mix(vec4(0.0), -scale * fetch_divergence(pack) / mix(vec4(1.0), diagonal, fluid), fluid);
    return coloured(pack, 0, overshoot(pack) * p);
}

#include "lib/pressure_operator.glsl"

void kernel(ivec3 pack) {
    vec4 p = fetch_pressure(pack);
    Operator at = pressure_operator(pack, p);
    bvec4 fluid = greaterThan(at.diagonal, vec4(0.0));
    vec4 change = (at.laplacian - scale * fetch_divergence(pack)) / mix(vec4(1.0), at.diagonal, fluid);
    pressure_out = mix(vec4(0.0), p + coloured(pack, 1, overshoot(pack) * change), fluid);
}
