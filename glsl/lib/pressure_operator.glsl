// The Laplacian of the pressure in four packed cells (cells of size 1), and the weight of each cell's own pressure
// in it, which counts its open neighbours alone, an open side of the box twice. Both are of no use where that weight is
// 0: solids, past the row.
#include "lib/box.glsl"

struct Operator {
    vec4 laplacian, diagonal;
};

#if WEIGHTED
// Coarse grids: weights of the low faces along x, y and z, and the sum over all six; past the row all are 0. Of a cell
// at a side that is not periodic the low face has 0, so reading round the box does no harm.
Operator pressure_operator(ivec3 pack, vec4 p) {
    ivec3 last = packed_extent - 1;
    int edge = cells.x - 1 - 4 * last.x;
    int left = pack.x == 0 ? last.x : pack.x - 1, right = pack.x == last.x ? 0 : pack.x + 1;
    vec4 before = fetch_pressure(ivec3(left, pack.yz)), after = fetch_pressure(ivec3(right, pack.yz));
    vec4 low = fetch_weights_x(pack), beyond = fetch_weights_x(ivec3(right, pack.yz));
    vec4 high = vec4(low.yzw, beyond.x), xm = vec4(pack.x == 0 ? before[edge] : before.w, p.xyz), xp = vec4(p.yzw, after.x);
    if (pack.x == last.x) {
        high[edge] = beyond.x;
        xp[edge] = after.x;
    }
    vec4 sum = low * xm + high * xp;
    ivec3 up = ivec3(pack.x, pack.y == last.y ? 0 : pack.y + 1, pack.z);
    ivec3 down = ivec3(pack.x, pack.y == 0 ? last.y : pack.y - 1, pack.z);
    sum += fetch_weights_y(pack) * fetch_pressure(down) + fetch_weights_y(up) * fetch_pressure(up);
#if DIMENSIONS == 3
    up = ivec3(pack.xy, pack.z == last.z ? 0 : pack.z + 1);
    down = ivec3(pack.xy, pack.z == 0 ? last.z : pack.z - 1);
    sum += fetch_weights_z(pack) * fetch_pressure(down) + fetch_weights_z(up) * fetch_pressure(up);
#endif
    vec4 diagonal = fetch_weights_sum(pack);
    return Operator(sum - diagonal * p, diagonal);
}
#else
#include "lib/pressure_neighbours.glsl"
#include "lib/open_count.glsl"

Operator pressure_operator(ivec3 pack, vec4 p) {
    Neighbours n = neighbours_of(pack, p);
    vec4 sum = n.xm + n.xp + n.ym + n.yp;
#if DIMENSIONS == 3
    sum += n.zm + n.zp;
#endif
    return Operator(sum - 2.0 * float(DIMENSIONS) * p, open_count(pack));
}
#endif
