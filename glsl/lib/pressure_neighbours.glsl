// The pressure round four packed cells, of a field of packs.
#include "lib/pressure_sides.glsl"

vec4 beside_or_beyond(ivec3 pack, int axis, vec4 own) {
    return or_beyond(fetch_pressure(readable(pack, axis)), pack, axis, own);
}

Neighbours neighbours_of(ivec3 pack, vec4 p) {
#if ALL_WALLS
    Neighbours n;
    // the nearest pack is the own one there: nothing is chosen but at the ends of rows
    ivec3 last = packed_extent - 1;
    int edge = cells.x - 1 - 4 * last.x;
    n.xm = vec4(fetch_pressure(ivec3(max(pack.x - 1, 0), pack.yz)).w, p.xyz);
    n.xp = vec4(p.yzw, fetch_pressure(ivec3(min(pack.x + 1, last.x), pack.yz)).x);
    n.ym = fetch_pressure(ivec3(pack.x, max(pack.y - 1, 0), pack.z));
    n.yp = fetch_pressure(ivec3(pack.x, min(pack.y + 1, last.y), pack.z));
#if DIMENSIONS == 3
    n.zm = fetch_pressure(ivec3(pack.xy, max(pack.z - 1, 0)));
    n.zp = fetch_pressure(ivec3(pack.xy, min(pack.z + 1, last.z)));
#endif
    if (pack.x == 0) n.xm.x = p.x;
    if (pack.x == last.x) n.xp[edge] = p[edge];
#else
    vec4 before = fetch_pressure(readable(pack - X, 0)), after = fetch_pressure(readable(pack + X, 0));
    Neighbours n = along_x(pack, p, before, after);
    n.ym = beside_or_beyond(pack - Y, 1, p);
    n.yp = beside_or_beyond(pack + Y, 1, p);
#if DIMENSIONS == 3
    n.zm = beside_or_beyond(pack - Z, 2, p);
    n.zp = beside_or_beyond(pack + Z, 2, p);
#endif
#endif
    return in_the_open(n, pack, p);
}
