// One pass of Stockham's Fourier transform along y or z (Cochran et al. 1967): transforms of length 2^done become such
// of 2^(done + bits). Two complex numbers of a row to a texel.
#include "lib/complex.glsl"

uniform int axis;         // 1: y, 2: z
uniform int done;
uniform int bits;         // 1 or 2: the radix is 2 or 4
uniform float direction;  // 1: forward; -1: back, without the division by the length

vec4 numbers_at(ivec3 pack, int n) {
    return fetch_transform(axis == 1 ? ivec3(pack.x, n, pack.z) : ivec3(pack.xy, n));
}

void kernel(ivec3 pack) {
    int n = axis == 1 ? pack.y : pack.z, within = n & (1 << (done + bits)) - 1, stride = most >> (done + bits);
    int at = first_of(n, within, done, bits), apart = (axis == 1 ? cells.y : cells.z) >> bits;
    vec4 turn = root(within * stride).xyxy * vec4(1.0, direction, 1.0, direction);
    vec4 sum = numbers_at(pack, at) + times_two(turn, numbers_at(pack, at + apart));
    if (bits == 2) {
        vec4 twice = times_two(turn, turn);
        sum += times_two(twice, numbers_at(pack, at + 2 * apart));
        sum += times_two(times_two(turn, twice), numbers_at(pack, at + 3 * apart));
    }
    transform_out = sum;
}
