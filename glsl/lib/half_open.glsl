// Which neighbours of cells of one colour are open.
#include "lib/halves.glsl"
#if SOLIDS
#include "lib/counted_bits.glsl"

// The bits of the open neighbours of the cells.
ivec4 open_bits(ivec3 pack, int parity) {
    int low = int(fetch_openings(ivec3(2 * pack.x, pack.yz)).x), high = 0;
    if (2 * pack.x + 1 < pack_extent.x) high = int(fetch_openings(ivec3(2 * pack.x + 1, pack.yz)).x);
    return (ivec4(low, low >> 12, high, high >> 12) >> (6 * parity)) & 63;
}
#endif

// How many neighbours of the cells are open.
vec4 open_count(ivec3 pack, int parity) {
#if SOLIDS
    return counted_bits(open_bits(pack, parity));
#else
    vec4 count = vec4(2.0 * float(DIMENSIONS));
    if (pack.y == 0 && !periodic.y && !open_low.y) count -= 1.0;
    if (pack.y == cells.y - 1 && !periodic.y && !open_high.y) count -= 1.0;
#if DIMENSIONS == 3
    if (pack.z == 0 && !periodic.z && !open_low.z) count -= 1.0;
    if (pack.z == cells.z - 1 && !periodic.z && !open_high.z) count -= 1.0;
#endif
    if (parity == 0 && pack.x == 0 && !periodic.x && !open_low.x) count.x -= 1.0;
    if (parity == ((cells.x - 1) & 1) && pack.x == row_end / 4 && !periodic.x && !open_high.x) count[row_end % 4] -= 1.0;
    return mix(vec4(0.0), count, in_row(pack, parity));
#endif
}
