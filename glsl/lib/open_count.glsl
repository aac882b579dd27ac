// How many neighbours of each of four packed cells are open, an open side of the box twice; 0 in solids and past the
// row.
#include "lib/more_open.glsl"

vec4 open_count(ivec3 pack) {
    int last = packed_extent.x - 1, edge = cells.x - 1 - 4 * last;
    vec4 more = vec4(more_across(pack));
    if (pack.x == 0) more.x += more_low.x;
    if (pack.x == last) more[edge] += more_high.x;
#if SOLIDS
    vec4 count = counted_bits(ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18));
    return count + mix(vec4(0.0), more, greaterThan(count, vec4(0.0)));
#else
    vec4 count = 2.0 * float(DIMENSIONS) + more;
    if (pack.x == last) count = mix(vec4(0.0), count, lessThanEqual(ivec4(0, 1, 2, 3), ivec4(edge)));
    return count;
#endif
}
