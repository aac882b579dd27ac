// Which neighbours of cells of one colour are open.
#include "lib/halves.glsl"
#include "lib/more_open.glsl"

#if SOLIDS
// The bits of the open neighbours of the cells.
ivec4 open_bits(ivec3 pack, int parity) {
    int low = int(fetch_openings(ivec3(2 * pack.x, pack.yz)).x), high = 0;
    if (2 * pack.x + 1 < pack_extent.x) high = int(fetch_openings(ivec3(2 * pack.x + 1, pack.yz)).x);
    return (ivec4(low, low >> 12, high, high >> 12) >> (6 * parity)) & 63;
}
#endif

// How many neighbours of the cells are open, an open side of the box twice.
vec4 open_count(ivec3 pack, int parity) {
    vec4 more = vec4(more_across(pack));
    if (parity == 0 && pack.x == 0) more.x += more_low.x;
    if (parity == ((cells.x - 1) & 1) && pack.x == row_end / 4) more[row_end % 4] += more_high.x;
#if SOLIDS
    vec4 count = counted_bits(open_bits(pack, parity));
    return count + mix(vec4(0.0), more, greaterThan(count, vec4(0.0)));
#else
    return mix(vec4(0.0), 2.0 * float(DIMENSIONS) + more, in_row(pack, parity));
#endif
}
