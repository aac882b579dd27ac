// Half a sweep of Gauss-Seidel of laplacian(pressure) = right, m^2/s^2: the cells of one colour, which need those of
// the other alone. A cell with no open neighbour holds 0.
#include "lib/half_neighbours.glsl"

uniform int colour;

void kernel(ivec3 pack) {
    int parity = parity_of(pack, colour);
    vec4 count = open_count(pack, parity);
    bvec4 fluid = greaterThan(count, vec4(0.0));
    vec4 p = (sum_of_neighbours(pack, parity) - fetch_right(pack)) / mix(vec4(1.0), count, fluid);
    own_out = mix(vec4(0.0), p, fluid);
}
