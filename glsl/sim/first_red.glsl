// The red half of a Gauss-Seidel sweep of laplacian(pressure) = divergence / dt, m^2/s^2, from pressure 0: the cells
// whose x + y + z is even; the others are 0. Packed: four cells along x.
#if !WEIGHTED
#include "lib/open_count.glsl"
#endif

uniform float scale;   // cell_size^2 / dt, m^2/s

void kernel(ivec3 pack) {
#if WEIGHTED
    vec4 diagonal = fetch_weights_sum(pack);
#else
    vec4 diagonal = open_count(pack);
#endif
    bvec4 fluid = greaterThan(diagonal, vec4(0.0));
    vec4 p = mix(vec4(0.0), -scale * fetch_divergence(pack) / mix(vec4(1.0), diagonal, fluid), fluid);
    pressure_out = ((pack.y + pack.z) & 1) == 0 ? vec4(p.x, 0.0, p.z, 0.0) : vec4(0.0, p.y, 0.0, p.w);
}
