// One pass of Stockham's Fourier transform (Cochran et al. 1967): transforms of length 2^done become such of
// 2^(done + bits). Two complex numbers of a row to a texel; the kernel says which lie at place `n` of its lines.
#include "lib/complex.glsl"

uniform int done;
uniform int bits;         // 1 or 2: the radix is 2 or 4
uniform float direction;  // 1: forward; -1: back, without the division by the length

vec4 numbers_at(ivec3 pack, int n);

// The numbers of a texel whose first is output `n` of a pass along a line of `count` numbers. roots: of that, at
// `within` the transform it belongs to.
vec4 passed_on(ivec3 pack, int n, int within, int count, vec4 roots) {
    int at = ((n - within) >> bits) + (n & ((1 << done) - 1)), apart = count >> bits;
    vec4 turn = roots * vec4(1.0, direction, 1.0, direction);
    vec4 sum = numbers_at(pack, at) + times_two(turn, numbers_at(pack, at + apart));
    if (bits == 2) {
        vec4 twice = times_two(turn, turn);
        sum += times_two(twice, numbers_at(pack, at + 2 * apart));
        sum += times_two(times_two(turn, twice), numbers_at(pack, at + 3 * apart));
    }
    return sum;
}
