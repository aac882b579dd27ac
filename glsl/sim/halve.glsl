// The cells of one colour of packed values, times a factor.
#include "lib/halves.glsl"

uniform int colour;
uniform float factor;

void kernel(ivec3 pack) {
    int parity = parity_of(pack, colour);
    vec4 low = fetch_values(ivec3(2 * pack.x, pack.yz)), high = vec4(0.0);
    if (2 * pack.x + 1 < packed_extent.x) high = fetch_values(ivec3(2 * pack.x + 1, pack.yz));
    vec4 own = parity == 0 ? vec4(low.xz, high.xz) : vec4(low.yw, high.yw);
    half_out = mix(vec4(0.0), factor * own, in_row(pack, parity));
}
