// Weights of the faces of a coarse grid: open area over the distance between the cells' centres, both in cells of
// the finest grid. Packed, four cells along x: the low faces along x, y and z, and the sum over all six. A low face at a
// side of the box is 0 unless the box is periodic; a side that is open counts in the sum alone, since there the
// pressure is 0. So does a face to a finer cell that no coarse one stands for (see join_cells.glsl): none is corrected.
#include "lib/box.glsl"
#include "lib/finer.glsl"
#include "lib/turns.glsl"

const float ROUNDING = 1e-5;  // share of a sum of weights that is none
const bool LEADS_OUT = WEIGHTED != 0 || any(open_low) || any(open_high);

// Widths of cells of a row of the finest grid's n.
vec4 widths(ivec4 i, int n, int s) { return vec4(min(ivec4(s), n - i * s)); }

ivec4 or_round(ivec4 i, int count) { return i + count * (ivec4(lessThan(i, ivec4(0))) - ivec4(greaterThanEqual(i, ivec4(count)))); }

// From the centres of cells to those of the cells before them, for the first round the box.
vec4 distances_before(ivec4 i, int n, int s) {
    return 0.5 * (widths(i, n, s) + widths(or_round(i - 1, count_of(n, s)), n, s));
}

// From the centre of the cell at a side to that side.
float distance_to_side(bool high, int n, int s) {
    return 0.5 * widths(ivec4(high ? count_of(n, s) - 1 : 0), n, s).x;
}

// Of the finer cells 2 i and 2 i + 1 of a row over a pack of coarse cells i one number each.
struct Pairs {
    vec4 even, odd;
};

#if WEIGHTED
Pairs paired(vec4 a, vec4 b) { return Pairs(vec4(a.xz, b.xz), vec4(a.yw, b.yw)); }

// Weights of low faces along an axis, or the sums: 0 past the row.
Pairs weights_in(ivec3 pack, int which, int y, int z) {
    ivec3 a = ivec3(2 * pack.x, y, z), b = a + X;
    bool more = 4 * b.x < finer_cells(0);
    vec4 none = vec4(0.0);
    if (which == 0) return paired(fetch_fine_weights_x(a), more ? fetch_fine_weights_x(b) : none);
    if (which == 1) return paired(fetch_fine_weights_y(a), more ? fetch_fine_weights_y(b) : none);
    if (which == 2) return paired(fetch_fine_weights_z(a), more ? fetch_fine_weights_z(b) : none);
    return paired(fetch_fine_weights_sum(a), more ? fetch_fine_weights_sum(b) : none);
}
#else
// Whether neighbours on a side are open, 1 or 0: 0 past the row.
Pairs open_in(ivec3 pack, int side, int y, int z) {
#if SOLIDS
    ivec3 a = ivec3(2 * pack.x, y, z), b = a + X;
    int low = int(fetch_openings(a).x), high = 4 * b.x < finer_cells(0) ? int(fetch_openings(b).x) : 0;
    ivec4 bits = ivec4(low, low >> 12, high, high >> 12) >> side;
    return Pairs(vec4(bits & 1), vec4(bits >> 6 & 1));
#else
    ivec4 even = 2 * (4 * pack.x + ivec4(0, 1, 2, 3));
    return Pairs(vec4(lessThan(even, ivec4(finer_cells(0)))), vec4(lessThan(even + 1, ivec4(finer_cells(0)))));
#endif
}
#endif

// Of the low faces of a row along an axis: open area over distance on a WEIGHTED finer grid, open area on the finest.
// The row after the last is the first one: its low faces are high faces of the last, 0 unless the box is periodic.
Pairs low_faces(ivec3 pack, int axis, ivec3 row) {
    for (int a = 1; a < 3; ++a) {
        if (row[a] > finer_cells(a) || (row[a] == finer_cells(a) && a != axis)) return Pairs(vec4(0.0), vec4(0.0));
        if (row[a] == finer_cells(a)) row[a] = 0;
    }
#if WEIGHTED
    return weights_in(pack, axis, row.y, row.z);
#else
    if (axis > 0 && row[axis] == 0 && !periodic[axis]) return Pairs(vec4(0.0), vec4(0.0));
    Pairs open = open_in(pack, 2 * axis, row.y, row.z);
    if (axis == 0 && pack.x == 0 && !periodic.x) open.even.x = 0.0;
    return open;
#endif
}

// Bits of finer cells, see join_cells.glsl.
ivec4 joined_of(ivec3 pack) {
#if SOLIDS
    return ivec4(fetch_joined(pack));
#else
    return ivec4(255);
#endif
}

// What goes through a face of four cells, by the finer cells on both sides of it, and what is lost to cells that
// nothing stands for.
struct Through {
    vec4 joined, lost;
};

void pass(vec4 area, ivec4 own, ivec4 others, inout Through sum) {
    vec4 open = area * vec4(own & 1);
    sum.joined += open * vec4(others & 1);
    sum.lost += open * vec4(1 - (others & 1));
}

// The low faces along an axis of the finer cells 2 i and 2 i + 1 of coarse cells i and of those after them.
struct Faces {
    vec4 first, second, third;
};

// Of those whose other coordinates are the low ones of the coarse cells and `across`.
Faces faces_of(ivec3 pack, int axis, ivec3 across) {
    int edge = cells.x - 1, last = edge >> 2;
    ivec3 row = 2 * ivec3(0, pack.yz) + ivec3(0, across.yz), step = step_along(axis);
    bool in_row = axis == 0;
    Pairs here = low_faces(pack, axis, row);
    Pairs next = low_faces(ivec3(in_row ? min(pack.x + 1, last) : pack.x, pack.yz), axis, in_row ? row : row + step);
    Pairs far = low_faces(ivec3(in_row ? 0 : pack.x, pack.yz), axis, in_row ? row : row + 2 * step);
    if (!in_row) return across.x == 0 ? Faces(here.even, next.even, far.even) : Faces(here.odd, next.odd, far.odd);
    Faces found = Faces(here.even, here.odd, vec4(here.even.yzw, next.even.x));
    if (pack.x == last) {  // the low face of the first cell is the high one of the last
        found.third[edge & 3] = far.even.x;
        if ((finer_cells(0) & 1) == 1) found.second[edge & 3] = far.even.x;
    }
    return found;
}

// The bits of the coarse cells before and after those of a pack, `own`.
ivec4[2] beside_along(ivec3 pack, int axis, ivec4 own) {
    ivec3 last = ivec3(cells.x - 1 >> 2, cells.yz - 1), down = pack, up = pack;
    down[axis] = pack[axis] == 0 ? last[axis] : pack[axis] - 1;
    up[axis] = pack[axis] == last[axis] ? 0 : pack[axis] + 1;
    ivec4 before = joined_of(down), after = joined_of(up);
    if (axis != 0) return ivec4[2](before, after);
    int lane = cells.x - 1 & 3;
    ivec4 behind = ivec4(own.yzw, after.x);
    if (pack.x == last.x) behind[lane] = after.x;
    return ivec4[2](ivec4(pack.x == 0 ? before[lane] : before.w, own.xyz), behind);
}

// Of finer cells, what of their sum leads to where the pressure is 0, as it counts here. at: the cells.
vec4 leads_out(vec4 sum, vec4 inner, ivec4 x, int y, int z, vec4 open_side[6]) {
    int s = stride / 2;
    vec4 out_of = vec4(0.0), shrink = vec4(float(s + 1) / float(stride + 1));
    for (int side = 0; side < turns(2 * DIMENSIONS); ++side) {
        int axis = side >> 1;
        bool high = (side & 1) == 1;
        if (!(high ? open_high[axis] : open_low[axis])) continue;
        int end = high ? finer_cells(axis) - 1 : 0;
        bvec4 touching = axis == 0 ? equal(x, ivec4(end)) : bvec4((axis == 1 ? y : z) == end);
        float far = distance_to_side(high, finest[axis], stride);
        shrink = mix(shrink, vec4(distance_to_side(high, finest[axis], s) / far), touching);
        out_of += mix(vec4(0.0), open_side[side] / far, touching);
    }
#if WEIGHTED
    out_of = sum - inner;
    return mix(vec4(0.0), out_of * shrink, greaterThan(out_of, ROUNDING * sum));
#else
    return out_of;
#endif
}

// Whether a pack lies at a side of the box that `some` is true for.
bvec3 at_low(ivec3 pack, bvec3 some) { return equal(ivec3(equal(pack, ivec3(0))) & ivec3(some), ivec3(1)); }
bvec3 at_high(ivec3 pack, bvec3 some) {
    return equal(ivec3(equal(pack, ivec3(cells.x - 1 >> 2, cells.yz - 1))) & ivec3(some), ivec3(1));
}

// Whether sides are neither open nor periodic.
bvec3 walls(bvec3 open) { return not(bvec3(ivec3(open) | ivec3(periodic))); }

// Whether there is fluid alone in and round four coarse cells over the finest ones: all faces but those at sides of the
// box weigh the same. (What lies next to them is joined in its coarse cell: it is half of it.)
bool in_the_clear(ivec3 pack) {
#if SOLIDS && !WEIGHTED && DIMENSIONS == 3
    int different = (finer_cells(0) & 7) | (finer_cells(1) & 1) | (finer_cells(2) & 1);
    if (any(equal(cells, ivec3(1)))) different = 1;
    ivec3 low = ivec3(at_low(pack, walls(open_low))), high = ivec3(at_high(pack, walls(open_high)));
    for (int row = 0; row < 4; ++row) {
        int y = row & 1, z = row >> 1;
        int sides = 63 ^ (y == 0 ? low.y << 2 : high.y << 3) ^ (z == 0 ? low.z << 4 : high.z << 5), four = sides * 0x41041;
        ivec3 a = ivec3(2 * pack.x, 2 * pack.yz + ivec2(y, z));
        different |= int(fetch_openings(a).x) ^ four ^ low.x;
        different |= int(fetch_openings(a + X).x) ^ four ^ high.x << 19;
    }
    return different == 0;
#else
    return false;
#endif
}

void kernel(ivec3 pack) {
    // most are, and a software renderer then makes one turn of the loops below in place of many
    bool clear = in_the_clear(pack);
    ivec4 x = 4 * pack.x + ivec4(0, 1, 2, 3), own = joined_of(pack);
    vec4 sum = vec4(0.0), inner[8] = vec4[8](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    for (int part = 0; part < 4; ++part) weights_out[part] = vec4(0.0);

    // one loop over the axes: a software renderer compiles what is in it once
    for (int axis = 0; axis < (clear ? 0 : turns(DIMENSIONS)); ++axis) {
        int n = finest[axis], s = stride / 2, count = finer_cells(axis), end = cells[axis] - 1, step = 1 << axis;
        ivec4 i = axis == 0 ? x : ivec4(pack[axis]), after_i = or_round(min(2 * i + 2, count), count);
        bool single = (count & 1) == 1;  // the last cell is a finer one by itself
        bvec4 alone = bvec4(ivec4(equal(i, ivec4(end))) * int(single));
        ivec4 far_low = step * (1 - ivec4(equal(i, ivec4(0))) * int(single)), far_high = step * (1 - ivec4(alone));
        vec4 low_scale = vec4(1.0), high_scale = vec4(1.0);
#if WEIGHTED  // to areas
        low_scale = distances_before(2 * i, n, s);
        high_scale = distances_before(after_i, n, s);
#endif
        ivec4 beside[2] = beside_along(pack, axis, own);
        Through low = Through(vec4(0.0), vec4(0.0)), high = low;
        for (int quarter = 0; quarter < turns(4); ++quarter) {
            ivec2 other = ivec2(quarter) >> ivec2(0, 1) & 1;
            ivec3 across = axis == 0 ? ivec3(0, other) : axis == 1 ? ivec3(other.x, 0, other.y) : ivec3(other, 0);
            int at = across.x + 2 * across.y + 4 * across.z;
            Faces faces = faces_of(pack, axis, across);
            pass(faces.first * low_scale, own >> at, beside[0] >> (at + far_low), low);
            pass(mix(faces.third, faces.second, alone) * high_scale, own >> (at + far_high), beside[1] >> at, high);
            inner[at] += faces.first + faces.second;
            inner[at + step] += faces.second + faces.third;
        }
        if (end == 0) continue;
        vec4 wide = widths(i, n, stride), lower = low.joined / distances_before(i, n, stride);
        weights_out[axis] = mix(vec4(0.0), lower, lessThan(x, ivec4(cells.x)));
        sum += lower + high.joined / distances_before(or_round(i + 1, end + 1), n, stride);
        sum += low.lost / (0.5 * (wide + widths(or_round(2 * i - 1, count), n, s)));
        sum += high.lost / (0.5 * (wide + widths(after_i, n, s)));
    }

    for (int n = 0; n < (LEADS_OUT && !clear ? turns(8) : 0); ++n) {
        ivec3 odd = ivec3(n) >> ivec3(0, 1, 2) & 1;
        ivec2 row = 2 * pack.yz + odd.yz;
        if (row.x >= finer_cells(1) || row.y >= finer_cells(2)) continue;
        vec4 whole = vec4(0.0), open_side[6];
#if WEIGHTED
        Pairs all = weights_in(pack, 3, row.x, row.y);
        whole = odd.x == 0 ? all.even : all.odd;
        for (int side = 0; side < 6; ++side) open_side[side] = vec4(0.0);
#else
        for (int side = 0; side < turns(6); ++side) {
            Pairs open = open_in(pack, side, row.x, row.y);
            open_side[side] = odd.x == 0 ? open.even : open.odd;
        }
#endif
        sum += vec4(own >> n & 1) * leads_out(whole, inner[n], 2 * x + odd.x, row.x, row.y, open_side);
    }
    if (clear) {
        sum = vec4(0.0);
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            ivec4 i = axis == 0 ? x : ivec4(pack[axis]);
            vec4 low = vec4(periodic[axis] ? bvec4(true) : notEqual(i, ivec4(0)));
            vec4 high = vec4(periodic[axis] ? bvec4(true) : notEqual(i, ivec4(cells[axis] - 1)));
            weights_out[axis] = 2.0 * low;  // of two by two faces, whose cells' centres are two apart
            sum += 2.0 * (low + high);      // and a centre one from a side
            sum += 4.0 * (float(open_low[axis]) * (1.0 - low) + float(open_high[axis]) * (1.0 - high));
        }
    }
    weights_out[3] = mix(vec4(0.0), sum, lessThan(x, ivec4(cells.x)));
}
