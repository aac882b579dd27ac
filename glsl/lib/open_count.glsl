// How many neighbours of each of four packed cells are open; 0 in solids and past the row.
#include "lib/box.glsl"
#if SOLIDS
#include "lib/counted_bits.glsl"
#endif

vec4 open_count(ivec3 pack) {
#if SOLIDS
    return counted_bits(ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18));
#else
    ivec3 last = packed_extent - 1;
    int edge = cells.x - 1 - 4 * last.x;
    vec4 count = vec4(2.0 * float(DIMENSIONS));
    if (pack.y == 0 && !periodic.y && !open_low.y) count -= 1.0;
    if (pack.y == last.y && !periodic.y && !open_high.y) count -= 1.0;
#if DIMENSIONS == 3
    if (pack.z == 0 && !periodic.z && !open_low.z) count -= 1.0;
    if (pack.z == last.z && !periodic.z && !open_high.z) count -= 1.0;
#endif
    if (pack.x == 0 && !periodic.x && !open_low.x) count.x -= 1.0;
    if (pack.x == last.x) {
        if (!periodic.x && !open_high.x) count[edge] -= 1.0;
        count = mix(vec4(0.0), count, lessThanEqual(ivec4(0, 1, 2, 3), ivec4(edge)));
    }
    return count;
#endif
}
