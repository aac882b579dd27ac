// What a V-cycle begins with, of packed values: the right sides of the red cells, those of the black ones, and the
// pressures of the black ones, m^2/s^2. The first sweep makes red pressures.
#include "lib/halves.glsl"

uniform float scale;

void kernel(ivec3 pack) {
    ivec3 first = ivec3(2 * pack.x, pack.yz), second = first + ivec3(1, 0, 0);
    vec4 d[2] = vec4[2](fetch_divergence(first), vec4(0.0)), p[2] = vec4[2](fetch_pressure(first), vec4(0.0));
    if (second.x < packed_extent.x) {
        d[1] = fetch_divergence(second);
        p[1] = fetch_pressure(second);
    }
    vec4 even = vec4(d[0].xz, d[1].xz), odd = vec4(d[0].yw, d[1].yw);
    bool swapped = parity_of(pack, 0) == 1;
    bvec4 red = in_row(pack, parity_of(pack, 0)), black = in_row(pack, parity_of(pack, 1));
    halves_out[0] = mix(vec4(0.0), scale * (swapped ? odd : even), red);
    halves_out[1] = mix(vec4(0.0), scale * (swapped ? even : odd), black);
    halves_out[2] = mix(vec4(0.0), swapped ? vec4(p[0].xz, p[1].xz) : vec4(p[0].yw, p[1].yw), black);
}
