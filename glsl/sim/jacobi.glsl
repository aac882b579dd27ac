// One weighted Jacobi sweep of laplacian(pressure) = divergence / dt, m^2/s^2. Packed: four cells along x.
#include "lib/pressure_neighbours.glsl"
#include "lib/jacobi_sweep.glsl"

uniform float weight;

void kernel(ivec3 pack) {
    vec4 p = fetch_pressure(pack);
    pressure_out = swept(p, neighbours_of(pack, p), fetch_divergence(pack), weight);
}
