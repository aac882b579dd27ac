// Packed values, four cells along x to a texel, of those of the two colours, less a share of their mean over the fluid;
// 0 elsewhere.
#include "lib/halves.glsl"
#include "lib/fluid_lanes.glsl"

uniform float share;

void kernel(ivec3 pack) {
    ivec3 at = ivec3(pack.x / 2, pack.yz);
    vec4 red = fetch_red(at), black = fetch_black(at), sums = fetch_wholes(ivec3(0));
    vec2 r = (pack.x & 1) == 0 ? red.xy : red.zw, b = (pack.x & 1) == 0 ? black.xy : black.zw;
    vec4 values = parity_of(pack, 0) == 0 ? vec4(r.x, b.x, r.y, b.y) : vec4(b.x, r.x, b.y, r.y);
    values -= share * sums.z / max(sums.w, 1.0);  // of sum_halves: the total, the number of cells
    values_out = mix(vec4(0.0), values, greaterThan(fluid_lanes(pack), vec4(0.0)));
}
