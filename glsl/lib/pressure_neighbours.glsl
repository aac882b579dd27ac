// The pressure round four packed cells. Beyond a wall or a solid the cell's own pressure stands (zero normal
// gradient), beyond an open side 0.
#include "lib/box.glsl"

struct Neighbours {
    vec4 xm, xp, ym, yp, zm, zp;
};

// Pressure of the pack at `pack`, or of the one a box away, or what `own` becomes beyond that side.
vec4 beyond_or(ivec3 pack, int axis, vec4 own) {
    bool low = pack[axis] < 0, high = pack[axis] >= packed_extent[axis];
    if (periodic[axis]) pack[axis] += packed_extent[axis] * (int(low) - int(high));
    vec4 p = fetch_pressure(clamp(pack, ivec3(0), packed_extent - 1));
    if (periodic[axis] || !(low || high)) return p;
    return (low && open_low[axis]) || (high && open_high[axis]) ? vec4(0.0) : own;
}

Neighbours neighbours_of(ivec3 pack, vec4 p) {
    ivec3 last = packed_extent - 1;
    int edge = cells.x - 1 - 4 * last.x;  // lane of the last cell of a row
    Neighbours n;
#if ALL_WALLS
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
    vec4 before = beyond_or(pack - X, 0, p.xxxx), after = beyond_or(pack + X, 0, vec4(p[edge]));
    n.xm = vec4(pack.x == 0 && periodic.x ? before[edge] : before.w, p.xyz);
    n.xp = vec4(p.yzw, after.x);
    if (pack.x == last.x) n.xp[edge] = after.x;
    n.ym = beyond_or(pack - Y, 1, p);
    n.yp = beyond_or(pack + Y, 1, p);
#if DIMENSIONS == 3
    n.zm = beyond_or(pack - Z, 2, p);
    n.zp = beyond_or(pack + Z, 2, p);
#endif
#endif
#if SOLIDS
    ivec4 open = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    n.xm = mix(n.xm, p, equal(open & 1, ivec4(0)));
    n.xp = mix(n.xp, p, equal(open & 2, ivec4(0)));
    n.ym = mix(n.ym, p, equal(open & 4, ivec4(0)));
    n.yp = mix(n.yp, p, equal(open & 8, ivec4(0)));
#if DIMENSIONS == 3
    n.zm = mix(n.zm, p, equal(open & 16, ivec4(0)));
    n.zp = mix(n.zp, p, equal(open & 32, ivec4(0)));
#endif
#endif
    return n;
}
