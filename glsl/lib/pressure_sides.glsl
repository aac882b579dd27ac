// The pressure round four packed cells, and what stands for it where there is no cell: beyond a wall or a solid the
// cell's own pressure (zero normal gradient); beyond an open side less that, so that it is 0 on the side itself.
#include "lib/box.glsl"

struct Neighbours {
    vec4 xm, xp, ym, yp, zm, zp;
};

// The pack to read for the one at `pack`, which may lie beyond a side: the one a box away, or the nearest.
ivec3 readable(ivec3 pack, int axis) {
    int count = packed_extent[axis];
    if (periodic[axis]) pack[axis] += count * (int(pack[axis] < 0) - int(pack[axis] >= count));
    pack[axis] = clamp(pack[axis], 0, count - 1);
    return pack;
}

// `there`, read for the pack at `pack`, or what `own` becomes beyond that side.
vec4 or_beyond(vec4 there, ivec3 pack, int axis, vec4 own) {
    bool low = pack[axis] < 0, high = pack[axis] >= packed_extent[axis];
    if (periodic[axis] || !(low || high)) return there;
    return (low && open_low[axis]) || (high && open_high[axis]) ? -own : own;
}

// The neighbours along x, those along y and z left open, of the cells at `pack`, which hold `p`. before, after: what
// was read for the packs beside it.
Neighbours along_x(ivec3 pack, vec4 p, vec4 before, vec4 after) {
    int last = packed_extent.x - 1, edge = cells.x - 1 - 4 * last;  // lane of the last cell of a row
    before = or_beyond(before, pack - X, 0, p.xxxx);
    after = or_beyond(after, pack + X, 0, vec4(p[edge]));
    vec4 xm = vec4(pack.x == 0 && periodic.x ? before[edge] : before.w, p.xyz), xp = vec4(p.yzw, after.x);
    if (pack.x == last) xp[edge] = after.x;
    return Neighbours(xm, xp, p, p, p, p);
}

// The same neighbours, but for those behind a solid.
Neighbours in_the_open(Neighbours n, ivec3 pack, vec4 p) {
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
