// The residual of the finer grid, summed over the cells that a coarse one stands for, of which those of one colour
// have any: of two cells along x one, and its lane there is the coarse cell's here. Packed: four cells along x.
#include "lib/box.glsl"

void kernel(ivec3 pack) {
    for (int z = 2 * pack.z; z < min(2 * pack.z + 2, fine_half_extent.z); ++z)
        for (int y = 2 * pack.y; y < min(2 * pack.y + 2, fine_half_extent.y); ++y)
            divergence_out += fetch_residual(ivec3(pack.x, y, z));
}
