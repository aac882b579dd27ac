// The residual of the finer grid, summed over the cells that a coarse one stands for. Packed: four cells along x.
#include "lib/box.glsl"

vec4 column(int pack, int y, int z) {
    vec4 sum = vec4(0.0);
    for (int k = z; k < min(z + 2, fine_packed_extent.z); ++k)
        for (int j = y; j < min(y + 2, fine_packed_extent.y); ++j) sum += fetch_residual(ivec3(pack, j, k));
    return sum;
}

void kernel(ivec3 pack) {
    // lanes past the end of the finer row hold 0
    ivec3 low = 2 * pack;
    vec4 a = column(low.x, low.y, low.z), b = vec4(0.0);
    if (low.x + 1 < fine_packed_extent.x) b = column(low.x + 1, low.y, low.z);
    divergence_out = vec4(a.x + a.y, a.z + a.w, b.x + b.y, b.z + b.w);
}
