// The pressure of the cells of one colour with the coarser grid's correction, m^2/s^2, linear as in prolong.glsl. Of
// two cells along x one has the colour, and its lane is that of their coarse cell.
#include "lib/half_open.glsl"
#include "lib/coarse_neighbour.glsl"

uniform int colour;

void kernel(ivec3 pack) {
    const int last = half_extent.x - 1;
    int parity = parity_of(pack, colour);
    ivec3 c = ivec3(pack.x, pack.yz >> 1);
    vec4 own = fetch_correction(c), change = own;
    bvec4 open = bvec4(true);
#if SOLIDS
    ivec4 bits = open_bits(pack, parity);
#endif

    vec4 side = fetch_correction(ivec3(clamp(c.x + 2 * parity - 1, 0, last), c.yz));
    vec4 next = parity == 0 ? vec4(side.w, own.xyz) : vec4(own.yzw, side.x), share = vec4(0.25);
    // at the two ends of a row the coarse neighbour is another, or none
    int end = parity == 0 ? 0 : row_end;
    if (pack.x == end / 4 && (parity == 0 || cells.x % 2 == 0)) {
        Beside b = beside(2 * end + parity, 0);
        next[end % 4] = b.outside ? 0.0 : fetch_correction(ivec3(b.at >> 2, c.yz))[b.at & 3];
        share[end % 4] = b.share;
    }
    // a cell that is a coarse one by itself
    if (parity == 0 && cells.x % 2 == 1 && pack.x == row_end / 4) share[row_end % 4] = 0.0;
#if SOLIDS
    open = notEqual(bits & (parity == 0 ? 1 : 2), ivec4(0));
#endif
    change += mix(vec4(0.0), share * (next - own), open);

    Beside b = beside(pack.y, 1);
    next = b.outside ? vec4(0.0) : fetch_correction(ivec3(c.x, b.at, c.z));
#if SOLIDS
    open = notEqual(bits & ((pack.y & 1) == 0 ? 4 : 8), ivec4(0));
#endif
    change += mix(vec4(0.0), b.share * (next - own), open);

#if DIMENSIONS == 3
    b = beside(pack.z, 2);
    next = b.outside ? vec4(0.0) : fetch_correction(ivec3(c.xy, b.at));
#if SOLIDS
    open = notEqual(bits & ((pack.z & 1) == 0 ? 16 : 32), ivec4(0));
#endif
    change += mix(vec4(0.0), b.share * (next - own), open);
#endif

    own_out = mix(vec4(0.0), fetch_own(pack) + change, greaterThan(open_count(pack, parity), vec4(0.0)));
}
