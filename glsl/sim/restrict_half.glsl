// What the pressure leaves of right = laplacian(pressure), m^2/s^2, in the cells of one colour, summed over those that
// one cell of the next coarser grid stands for. Packed: four coarse cells along x. Of two cells along x one has the
// colour, and its lane is that of their coarse cell. joined: the cells it stands for, see join_cells.glsl.
#include "lib/half_neighbours.glsl"

uniform int colour;

void kernel(ivec3 pack) {
    ivec3 at = ivec3(pack.x, 2 * pack.yz), end = min(at + 2, half_extent);
    do {  // asked for last, see turns.glsl
        at.y = 2 * pack.y;
        do {
            int parity = parity_of(at, colour);
            vec4 count = open_count(at, parity);
            vec4 left = fetch_right(at) - (sum_of_neighbours(at, parity) - count * fetch_own(at));
#if SOLIDS
            left *= vec4(ivec4(fetch_joined(pack)) >> (parity + 2 * (at.y & 1) + 4 * (at.z & 1)) & 1);
#endif
            restricted_out += mix(vec4(0.0), left, greaterThan(count, vec4(0.0)));
        } while (++at.y < end.y);
    } while (++at.z < end.z);
}
