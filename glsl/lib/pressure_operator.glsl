// The Laplacian of the pressure in four packed cells (cells of size 1), and the weight of each cell's own pressure
// in it, which counts its open neighbours alone. Both are of no use where that weight is 0: solids, past the row.
#include "lib/box.glsl"

struct Operator {
    vec4 laplacian, diagonal;
};

#if WEIGHTED
// Coarse grids: `weights` holds those of the three low faces and the sum over all six. Of a cell at a side that is
// not periodic the low face has 0, so reading round the box does no harm.
vec4 weights_of(ivec3 cell) { return fetch_weights(cell - cells * ivec3(equal(cell, cells))); }

Operator pressure_operator(ivec3 pack, vec4 p) {
    const ivec3 last = packed_extent - 1;
    const int edge = cells.x - 1 - 4 * last.x;
    ivec3 cell = ivec3(4 * pack.x, pack.yz), most = cells - 1;
    vec4 a = weights_of(cell), b = weights_of(ivec3(min(cell.x + 1, most.x), cell.yz));
    vec4 c = weights_of(ivec3(min(cell.x + 2, most.x), cell.yz));
    vec4 d = weights_of(ivec3(min(cell.x + 3, most.x), cell.yz));
    vec4 e = weights_of(ivec3(pack.x == last.x ? 0 : cell.x + 4, cell.yz));
    vec4 low = vec4(a.x, b.x, c.x, d.x), high = vec4(b.x, c.x, d.x, e.x);
    vec4 before = fetch_pressure(ivec3(pack.x == 0 ? last.x : pack.x - 1, pack.yz));
    vec4 after = fetch_pressure(ivec3(pack.x == last.x ? 0 : pack.x + 1, pack.yz));
    vec4 xm = vec4(pack.x == 0 ? before[edge] : before.w, p.xyz), xp = vec4(p.yzw, after.x);
    if (pack.x == last.x) {
        high[edge] = e.x;
        xp[edge] = after.x;
    }
    vec4 sum = low * xm + high * xp;
    int up = pack.y == last.y ? 0 : pack.y + 1, down = pack.y == 0 ? last.y : pack.y - 1;
    ivec4 lanes = min(ivec4(cell.x) + ivec4(0, 1, 2, 3), most.x);
    high = vec4(
        fetch_weights(ivec3(lanes.x, up, pack.z)).y,
        fetch_weights(ivec3(lanes.y, up, pack.z)).y,
        fetch_weights(ivec3(lanes.z, up, pack.z)).y,
        fetch_weights(ivec3(lanes.w, up, pack.z)).y
    );
    sum += vec4(a.y, b.y, c.y, d.y) * fetch_pressure(ivec3(pack.x, down, pack.z));
    sum += high * fetch_pressure(ivec3(pack.x, up, pack.z));
#if DIMENSIONS == 3
    up = pack.z == last.z ? 0 : pack.z + 1;
    down = pack.z == 0 ? last.z : pack.z - 1;
    high = vec4(
        fetch_weights(ivec3(lanes.x, pack.y, up)).z,
        fetch_weights(ivec3(lanes.y, pack.y, up)).z,
        fetch_weights(ivec3(lanes.z, pack.y, up)).z,
        fetch_weights(ivec3(lanes.w, pack.y, up)).z
    );
    sum += vec4(a.z, b.z, c.z, d.z) * fetch_pressure(ivec3(pack.xy, down));
    sum += high * fetch_pressure(ivec3(pack.xy, up));
#endif
    vec4 diagonal = mix(vec4(0.0), vec4(a.w, b.w, c.w, d.w), lessThan(cell.x + ivec4(0, 1, 2, 3), ivec4(cells.x)));
    return Operator(sum - diagonal * p, diagonal);
}
#else
#include "lib/pressure_neighbours.glsl"

// How many neighbours of each cell are open.
vec4 open_count(ivec3 pack) {
#if SOLIDS
    ivec4 open = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    return vec4(
        (open & 1) + (open >> 1 & 1) + (open >> 2 & 1) + (open >> 3 & 1) + (open >> 4 & 1) + (open >> 5 & 1)
    );
#else
    const ivec3 last = packed_extent - 1;
    const int edge = cells.x - 1 - 4 * last.x;
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

Operator pressure_operator(ivec3 pack, vec4 p) {
    Neighbours n = neighbours_of(pack, p);
    vec4 sum = n.xm + n.xp + n.ym + n.yp;
#if DIMENSIONS == 3
    sum += n.zm + n.zp;
#endif
    return Operator(sum - 2.0 * float(DIMENSIONS) * p, open_count(pack));
}
#endif
