// The solution of laplacian(pressure) = scale * divergence, m^2/s^2, on a grid of few cells, by the inverse of its
// equation: of each cell what a right side of 1 in each other makes there. Packed: four cells along x.
#include "lib/turns.glsl"

uniform float scale;

void kernel(ivec3 pack) {
    int own = (pack.z * packed_extent.y + pack.y) * packed_extent.x + pack.x, cell = 0;
    for (int z = 0; z < turns(packed_extent.z); ++z)
        for (int y = 0; y < turns(packed_extent.y); ++y)
            for (int x = 0; x < packed_extent.x; ++x) {
                vec4 right = fetch_divergence(ivec3(x, y, z));
                for (int lane = 0; lane < 4; ++lane) pressure_out += right[lane] * fetch_inverse(ivec3(own, cell++, 0));
            }
    pressure_out *= scale;
}
