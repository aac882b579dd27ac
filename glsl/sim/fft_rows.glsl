// One pass of a Fourier transform along x.
#include "lib/stockham.glsl"

// The two numbers that those of the output texel at `pack` take: neighbours in a texel, or, in the first pass, twice
// the same one.
vec4 numbers_at(ivec3 pack, int n) {
    vec4 two = fetch_transform(ivec3(n >> 1, pack.yz));
    if (done > 0) return two;
    return (n & 1) == 0 ? two.xyxy : two.zwzw;
}

void kernel(ivec3 pack) {
    int n = 2 * pack.x, within = n & (1 << (done + bits)) - 1, stride = most >> (done + bits);
    vec4 roots = vec4(root(within * stride).xy, root((within + 1) * stride).xy);
    transform_out = passed_on(pack, n, within, half_row, roots);
}
