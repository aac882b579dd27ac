// What the pressure leaves of right = laplacian(pressure), m^2/s^2, in the cells of one colour; 0 in solids.
#include "lib/half_neighbours.glsl"

uniform int colour;

void kernel(ivec3 pack) {
    int parity = parity_of(pack, colour);
    vec4 count = open_count(pack, parity);
    vec4 left = fetch_right(pack) - (sum_of_neighbours(pack, parity) - count * fetch_own(pack));
    residual_out = mix(vec4(0.0), left, greaterThan(count, vec4(0.0)));
}
