// The sum of the pressures of the open neighbours of cells of one colour, all of the other; an open side adds 0.
// For boxes in which no axis with an odd number of cells is periodic: there neighbours would share a colour.
#include "lib/half_open.glsl"

// The row beside, of the other colour; 0 beyond the sides.
vec4 row_beside(ivec3 pack, int axis, int by) {
    int at = pack[axis] + by, count = cells[axis];
    bool outside = at < 0 || at >= count;
    pack[axis] = periodic[axis] ? (at + count) % count : clamp(at, 0, count - 1);
    vec4 p = fetch_other(pack);
    return outside && !periodic[axis] ? vec4(0.0) : p;
}

vec4 sum_of_neighbours(ivec3 pack, int parity) {
    const int last = half_extent.x - 1;
    vec4 same = fetch_other(pack);  // of parity 0 the next along x, of 1 the one before
    vec4 side = fetch_other(ivec3(clamp(pack.x + 2 * parity - 1, 0, last), pack.yz));
    vec4 before = vec4(pack.x == 0 ? 0.0 : side.w, same.xyz), after = vec4(same.yzw, pack.x == last ? 0.0 : side.x);
    if (periodic.x) {
        if (pack.x == 0) before.x = fetch_other(ivec3(row_end / 4, pack.yz))[row_end % 4];
        if (pack.x == row_end / 4) after[row_end % 4] = fetch_other(ivec3(0, pack.yz)).x;
    }
    vec4 xm = parity == 0 ? before : same, xp = parity == 0 ? same : after;
    vec4 ym = row_beside(pack, 1, -1), yp = row_beside(pack, 1, 1);
#if DIMENSIONS == 3
    vec4 zm = row_beside(pack, 2, -1), zp = row_beside(pack, 2, 1);
#endif
#if SOLIDS
    ivec4 open = open_bits(pack, parity);
    xm = mix(vec4(0.0), xm, notEqual(open & 1, ivec4(0)));
    xp = mix(vec4(0.0), xp, notEqual(open & 2, ivec4(0)));
    ym = mix(vec4(0.0), ym, notEqual(open & 4, ivec4(0)));
    yp = mix(vec4(0.0), yp, notEqual(open & 8, ivec4(0)));
#if DIMENSIONS == 3
    zm = mix(vec4(0.0), zm, notEqual(open & 16, ivec4(0)));
    zp = mix(vec4(0.0), zp, notEqual(open & 32, ivec4(0)));
#endif
#endif
    vec4 sum = xm + xp + ym + yp;
#if DIMENSIONS == 3
    sum += zm + zp;
#endif
    return sum;
}
