// Packed values, four cells along x to a texel, of those of the two colours.
#include "lib/halves.glsl"

void kernel(ivec3 pack) {
    ivec3 at = ivec3(pack.x / 2, pack.yz);
    vec4 red = fetch_red(at), black = fetch_black(at);
    vec2 r = (pack.x & 1) == 0 ? red.xy : red.zw, b = (pack.x & 1) == 0 ? black.xy : black.zw;
    values_out = parity_of(pack, 0) == 0 ? vec4(r.x, b.x, r.y, b.y) : vec4(b.x, r.x, b.y, r.y);
}
