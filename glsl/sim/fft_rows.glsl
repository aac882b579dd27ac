// One pass of Stockham's Fourier transform along x (Cochran et al. 1967): transforms of length 2^done become such of
// 2^(done + bits). Packed: two complex numbers of a row to a texel.
#include "lib/complex.glsl"

uniform int done;
uniform int bits;         // 1 or more
uniform float direction;  // 1: forward; -1: back, without the division by the length

void kernel(ivec3 pack) {
    int wide = 1 << (done + bits), stride = most >> (done + bits);
    int n = 2 * pack.x, within = n & (wide - 1);
    int from = first_of(n, within, done, bits);
    vec2 turn = root(within * stride).xy, next_turn = root((within + 1) * stride).xy;
    turn.y *= direction;
    next_turn.y *= direction;
    vec2 power = vec2(1.0, 0.0), next_power = power;
    vec4 sum = vec4(0.0);
    for (int r = 0; r < 1 << bits; ++r) {
        int at = from + r * (half_row >> bits);
        vec4 two = fetch_transform(ivec3(at >> 1, pack.yz));
        // in the first pass both numbers of this texel come from the same ones, later from neighbours in a texel
        vec2 own = (at & 1) == 0 ? two.xy : two.zw, next = done == 0 ? own : two.zw;
        sum += vec4(times(power, own), times(next_power, next));
        power = times(power, turn);
        next_power = times(next_power, next_turn);
    }
    transform_out = sum;
}
