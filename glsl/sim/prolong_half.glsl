// The pressure of the cells of one colour with the coarser grid's correction, m^2/s^2, linear as in prolong.glsl. Of
// two cells along x one has the colour, and its lane is that of their coarse cell. joined: see there.
#include "lib/half_open.glsl"
#include "lib/coarse_neighbour.glsl"

uniform int colour;

#if SOLIDS
bvec4 stood_for(ivec3 at, int finer) { return notEqual(ivec4(fetch_joined(at)) >> finer & 1, ivec4(0)); }
#endif

bvec4 both(bvec4 a, bvec4 b) { return bvec4(ivec4(a) & ivec4(b)); }

void kernel(ivec3 pack) {
    const int last = half_extent.x - 1;
    int parity = parity_of(pack, colour);
    ivec3 c = ivec3(pack.x, pack.yz >> 1);
    vec4 own = fetch_correction(c), change = own;
    bvec4 open = bvec4(true), next_kept = bvec4(true);
#if SOLIDS
    ivec4 bits = open_bits(pack, parity), joined = ivec4(fetch_joined(c));
    ivec2 odd = pack.yz & 1;
    int finer = parity + 2 * odd.x + 4 * odd.y;  // of the cells here, in their coarse ones
#endif

    vec4 side = fetch_correction(ivec3(clamp(c.x + 2 * parity - 1, 0, last), c.yz));
    vec4 next = parity == 0 ? vec4(side.w, own.xyz) : vec4(own.yzw, side.x), share = vec4(0.25);
#if SOLIDS
    ivec4 beyond = ivec4(fetch_joined(ivec3(clamp(c.x + 2 * parity - 1, 0, last), c.yz)));
    ivec4 next_joined = parity == 0 ? ivec4(beyond.w, joined.xyz) : ivec4(joined.yzw, beyond.x);
#endif
    // at the two ends of a row the coarse neighbour is another, or none
    int end = parity == 0 ? 0 : row_end;
    if (pack.x == end / 4 && (parity == 0 || cells.x % 2 == 0)) {
        Beside b = beside(2 * end + parity, 0);
        next[end % 4] = b.outside ? 0.0 : fetch_correction(ivec3(b.at >> 2, c.yz))[b.at & 3];
        share[end % 4] = b.share;
#if SOLIDS
        next_joined[end % 4] = b.outside ? 255 : int(fetch_joined(ivec3(b.at >> 2, c.yz))[b.at & 3]);
#endif
    }
    // a cell that is a coarse one by itself
    if (parity == 0 && cells.x % 2 == 1 && pack.x == row_end / 4) share[row_end % 4] = 0.0;
#if SOLIDS
    open = notEqual(bits & (parity == 0 ? 1 : 2), ivec4(0));
    next_kept = notEqual(next_joined >> (finer ^ 1) & 1, ivec4(0));
#endif
    change += mix(vec4(0.0), share * (next - own), both(open, next_kept));

    Beside b = beside(pack.y, 1);
    next = b.outside ? vec4(0.0) : fetch_correction(ivec3(c.x, b.at, c.z));
#if SOLIDS
    open = notEqual(bits & ((pack.y & 1) == 0 ? 4 : 8), ivec4(0));
    next_kept = b.outside ? bvec4(true) : stood_for(ivec3(c.x, b.at, c.z), parity + 2 * b.odd + 4 * odd.y);
#endif
    change += mix(vec4(0.0), b.share * (next - own), both(open, next_kept));

#if DIMENSIONS == 3
    b = beside(pack.z, 2);
    next = b.outside ? vec4(0.0) : fetch_correction(ivec3(c.xy, b.at));
#if SOLIDS
    open = notEqual(bits & ((pack.z & 1) == 0 ? 16 : 32), ivec4(0));
    next_kept = b.outside ? bvec4(true) : stood_for(ivec3(c.xy, b.at), parity + 2 * odd.x + 4 * b.odd);
#endif
    change += mix(vec4(0.0), b.share * (next - own), both(open, next_kept));
#endif

#if SOLIDS
    change = mix(vec4(0.0), change, notEqual(joined >> finer & 1, ivec4(0)));
#endif

    own_out = mix(vec4(0.0), fetch_own(pack) + change, greaterThan(open_count(pack, parity), vec4(0.0)));
}
