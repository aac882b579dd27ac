// The pressure with the coarser grid's correction, m^2/s^2. Packed: four cells along x. Linear: a cell lies a quarter
// of the way from its coarse cell's centre to the next along each axis. Through a closed face nothing is taken; on
// an open side stands 0. A cell that is a coarse one by itself has that one's value. Only cells that their coarse one
// stands for (joined, see join_cells.glsl) are corrected, and only from over such ones.
#include "lib/coarse_neighbour.glsl"
#if !WEIGHTED
#include "lib/open_count.glsl"
#endif

// Corrections in the two coarse cells over a pack of four, in the coarse row of (y, z).
vec2 pair(int pack, int y, int z) {
    vec4 four = fetch_correction(ivec3(pack >> 1, y, z));
    return (pack & 1) == 0 ? four.xy : four.zw;
}

#if SOLIDS
ivec2 joined_pair(int pack, int y, int z) {
    ivec4 four = ivec4(fetch_joined(ivec3(pack >> 1, y, z)));
    return (pack & 1) == 0 ? four.xy : four.zw;
}

int joined_at(int x, int y, int z) { return int(fetch_joined(ivec3(x >> 2, y, z))[x & 3]); }

bvec4 stood_for(ivec2 pair, int odd_y, int odd_z) {
    return notEqual(pair.xxyy >> (ivec4(0, 1, 0, 1) + 2 * odd_y + 4 * odd_z) & 1, ivec4(0));
}
#endif

bvec4 both(bvec4 a, bvec4 b) { return bvec4(ivec4(a) & ivec4(b)); }

float at_x(int x, int y, int z) { return fetch_correction(ivec3(x >> 2, y, z))[x & 3]; }

vec4 spread(vec2 two) { return two.xxyy; }

void kernel(ivec3 pack) {
    ivec3 c = ivec3(2 * pack.x, pack.yz >> 1);
    vec4 own = spread(pair(pack.x, c.y, c.z)), change = own;
    bvec4 open = bvec4(true), kept = bvec4(true), next_kept = bvec4(true);
    ivec2 odd = pack.yz & 1;
#if SOLIDS
    kept = stood_for(joined_pair(pack.x, c.y, c.z), odd.x, odd.y);
#endif
#if WEIGHTED
    ivec3 last = packed_extent - 1;
    vec4 diagonal = fetch_weights_sum(pack);
    vec4 low = fetch_weights_x(pack), high = vec4(low.yzw, fetch_weights_x(ivec3(pack.x == last.x ? 0 : pack.x + 1, pack.yz)).x);
#elif SOLIDS
    ivec4 bits = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    vec4 diagonal = vec4(bits & 63);
#else
    vec4 diagonal = open_count(pack);
#endif

    vec4 next, share;
    bvec4 outside;
    for (int lane = 0; lane < 4; ++lane) {
        Beside b = beside(min(4 * pack.x + lane, cells.x - 1), 0);
        next[lane] = b.outside ? 0.0 : at_x(b.at, c.y, c.z);
        share[lane] = b.share;
        outside[lane] = b.outside;
#if SOLIDS
        next_kept[lane] = b.outside || (joined_at(b.at, c.y, c.z) >> (b.odd + 2 * odd.x + 4 * odd.y) & 1) == 1;
#endif
    }
#if WEIGHTED
    // a high face past the row: its lane is the row's last cell, at a periodic side that of the first
    if (pack.x == last.x) high[cells.x - 1 - 4 * last.x] = fetch_weights_x(ivec3(0, pack.yz)).x;
    vec4 face = vec4(low.x, high.y, low.z, high.w);
    open = bvec4(ivec4(outside) | ivec4(greaterThan(face, vec4(0.0))));
#elif SOLIDS
    open = notEqual(bits & ivec4(1, 2, 1, 2), ivec4(0));
#endif
    change += mix(vec4(0.0), share * (next - own), both(open, next_kept));

    Beside b = beside(pack.y, 1);
    next = b.outside ? vec4(0.0) : spread(pair(pack.x, b.at, c.z));
#if WEIGHTED
    ivec3 row = pack;
    if ((pack.y & 1) == 1) row.y = pack.y + 1 == cells.y ? 0 : pack.y + 1;
    open = b.outside ? bvec4(true) : greaterThan(fetch_weights_y(row), vec4(0.0));
#elif SOLIDS
    open = notEqual(bits & ((pack.y & 1) == 0 ? 4 : 8), ivec4(0));
#endif
#if SOLIDS
    next_kept = b.outside ? bvec4(true) : stood_for(joined_pair(pack.x, b.at, c.z), b.odd, odd.y);
#endif
    change += mix(vec4(0.0), b.share * (next - own), both(open, next_kept));

#if DIMENSIONS == 3
    b = beside(pack.z, 2);
    next = b.outside ? vec4(0.0) : spread(pair(pack.x, c.y, b.at));
#if WEIGHTED
    row = pack;
    if ((pack.z & 1) == 1) row.z = pack.z + 1 == cells.z ? 0 : pack.z + 1;
    open = b.outside ? bvec4(true) : greaterThan(fetch_weights_z(row), vec4(0.0));
#elif SOLIDS
    open = notEqual(bits & ((pack.z & 1) == 0 ? 16 : 32), ivec4(0));
#endif
#if SOLIDS
    next_kept = b.outside ? bvec4(true) : stood_for(joined_pair(pack.x, c.y, b.at), odd.x, b.odd);
#endif
    change += mix(vec4(0.0), b.share * (next - own), both(open, next_kept));
#endif

    change = mix(vec4(0.0), change, kept);
    pressure_out = mix(vec4(0.0), fetch_pressure(pack) + change, greaterThan(diagonal, vec4(0.0)));
}
