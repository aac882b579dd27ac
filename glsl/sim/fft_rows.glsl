// One pass of Stockham's Fourier transform along x (Cochran et al. 1967): transforms of length 2^done become such of
// 2^(done + bits). Two complex numbers of a row to a texel.
#include "lib/complex.glsl"

uniform int done;
uniform int bits;         // 1 or 2: the radix is 2 or 4
uniform float direction;  // 1: forward; -1: back, without the division by the length

// The two numbers that those of the output texel at `pack` take: neighbours in a texel, or, in the first pass, twice
// the same one.
vec4 numbers_at(ivec3 pack, int n) {
    vec4 two = fetch_transform(ivec3(n >> 1, pack.yz));
    if (done > 0) return two;
    return (n & 1) == 0 ? two.xyxy : two.zwzw;
}

void kernel(ivec3 pack) {
    int n = 2 * pack.x, within = n & (1 << (done + bits)) - 1, stride = most >> (done + bits);
    int at = first_of(n, within, done, bits), apart = half_row >> bits;
    vec4 turn = vec4(root(within * stride).xy, root((within + 1) * stride).xy) * vec4(1.0, direction, 1.0, direction);
    vec4 sum = numbers_at(pack, at) + times_two(turn, numbers_at(pack, at + apart));
    if (bits == 2) {
        vec4 twice = times_two(turn, turn);
        sum += times_two(twice, numbers_at(pack, at + 2 * apart));
        sum += times_two(times_two(turn, twice), numbers_at(pack, at + 3 * apart));
    }
    transform_out = sum;
}
