// One pass of Stockham's Fourier transform along y or z (Cochran et al. 1967): transforms of length 2^done become such
// of 2^(done + bits). Packed: two complex numbers of a row to a texel.
#include "lib/complex.glsl"

uniform int axis;         // 1: y, 2: z
uniform int done;
uniform int bits;         // 1 or more
uniform float direction;  // 1: forward; -1: back, without the division by the length

void kernel(ivec3 pack) {
    bool y = axis == 1;
    int wide = 1 << (done + bits), stride = most >> (done + bits);
    int n = y ? pack.y : pack.z, within = n & (wide - 1);
    int at = first_of(n, within, done, bits), apart = (y ? cells.y : cells.z) >> bits;
    vec2 turn = root(within * stride).xy;
    turn.y *= direction;
    vec2 power = vec2(1.0, 0.0);
    vec4 sum = vec4(0.0);
    for (int r = 0; r < 1 << bits; ++r) {
        vec4 two = fetch_transform(ivec3(pack.x, y ? at : pack.y, y ? pack.z : at));
        sum += vec4(times(power, two.xy), times(power, two.zw));
        power = times(power, turn);
        at += apart;
    }
    transform_out = sum;
}
