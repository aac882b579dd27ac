// Weights of the faces of a coarse grid: open area over the distance between the cells' centres, both in cells of
// the finest grid. Packed, four cells along x: the low faces along x, y and z, and the sum over all six. A low face at a
// side of the box is 0 unless the box is periodic; a side that is open counts in the sum alone, since there the
// pressure is 0. So does a face to a finer cell that no coarse one stands for (see join_cells.glsl): none is corrected.
#include "lib/box.glsl"
#include "lib/counted_bits.glsl"
#include "lib/finer.glsl"
#include "lib/turns.glsl"

const float ROUNDING = 1e-5;  // share of a sum of weights that is none

// Width of a cell of a row of the finest grid's n.
float width(int i, int n, int s) { return float(min(s, n - i * s)); }

int or_round(int i, int count) { return i + count * (int(i < 0) - int(i >= count)); }

// From the centre of a cell to that of the cell before it, for the first round the box.
float distance_before(int i, int n, int s) { return 0.5 * (width(i, n, s) + width(or_round(i - 1, count_of(n, s)), n, s)); }

// From the centre of the cell at a side to that side.
float distance_to_side(bool high, int n, int s) { return 0.5 * width(high ? count_of(n, s) - 1 : 0, n, s); }

// Bits of the finer cells that those of a pack stand for, see join_cells.glsl: without solids of all there are.
ivec4 joined_of(ivec3 pack) {
#if SOLIDS
    return ivec4(fetch_joined(pack));
#else
    ivec4 alone_x = ivec4(greaterThanEqual(8 * pack.x + ivec4(1, 3, 5, 7), ivec4(finer_cells(0))));
    ivec2 alone = ivec2(greaterThanEqual(2 * pack.yz + 1, ivec2(finer_cells(1), finer_cells(2))));
    return (255 ^ 0xaa * alone_x) & (255 ^ 0xcc * alone.x) & (255 ^ 0xf0 * alone.y);
#endif
}

int joined_at(ivec3 cell) { return joined_of(ivec3(cell.x >> 2, cell.yz))[cell.x & 3]; }

#if WEIGHTED
// Of the low face of a finer cell open area over distance: 0 past the box, and at its low side unless it is periodic, where
// it is the high face of the last cell as well.
float low_face(ivec3 cell, int axis) {
    if (cell.x >= finer_cells(0) || cell.y >= finer_cells(1) || cell.z >= finer_cells(2)) return 0.0;
    ivec3 pack = ivec3(cell.x >> 2, cell.yz);
    return (axis == 0 ? fetch_fine_weights_x(pack) : axis == 1 ? fetch_fine_weights_y(pack) : fetch_fine_weights_z(pack))[cell.x & 3];
}

// What leads from the finer cells that four stand for to where the pressure is 0, as it counts here.
vec4 leads_out(ivec3 pack) {
    ivec4 own = joined_of(pack);
    int s = stride / 2, last = finer_cells(0) - 1, n = 0;
    vec4 found = vec4(0.0);
    do {
        ivec3 odd = ivec3(n, n >> 1, n >> 2) & 1, finer = ivec3(2 * pack.x + odd.x, 2 * pack.yz + odd.yz);
        if (all(lessThanEqual(ivec3(4 * finer.x, finer.yz), ivec3(last, finer_cells(1) - 1, finer_cells(2) - 1)))) {
            ivec3 next = finer + 1;
            next = ivec3(4 * next.x > last ? 0 : next.x, or_round(next.y, finer_cells(1)), or_round(next.z, finer_cells(2)));
            vec4 sum = fetch_fine_weights_sum(finer), low = fetch_fine_weights_x(finer), high = vec4(low.yzw, 0.0);
            high[min(last - 4 * finer.x, 3)] = fetch_fine_weights_x(ivec3(next.x, finer.yz)).x;
            vec4 out_of = sum - low - high - fetch_fine_weights_y(finer) - fetch_fine_weights_y(ivec3(finer.x, next.y, finer.z));
            out_of -= fetch_fine_weights_z(finer) + fetch_fine_weights_z(ivec3(finer.xy, next.z));
            ivec4 x = 4 * finer.x + ivec4(0, 1, 2, 3);
            vec4 shrink = vec4(float(s + 1) / float(stride + 1));
            for (int side = 0; side < turns(2 * DIMENSIONS); ++side) {
                int axis = side >> 1;
                bool high = (side & 1) == 1, open = high ? open_high[axis] : open_low[axis];
                bvec4 there = equal(axis == 0 ? x : ivec4(finer[axis]), ivec4(high ? finer_cells(axis) - 1 : 0));
                float share = distance_to_side(high, finest[axis], s) / distance_to_side(high, finest[axis], stride);
                if (open) shrink = mix(shrink, vec4(share), there);
            }
            out_of = mix(vec4(0.0), out_of * shrink, greaterThan(out_of, ROUNDING * sum));
            out_of *= vec4((odd.x == 0 ? own.xxyy : own.zzww) >> (ivec4(0, 1, 0, 1) + 2 * odd.y + 4 * odd.z) & 1);
            vec2 two = out_of.xz + out_of.yw;
            found += odd.x == 0 ? vec4(two, 0.0, 0.0) : vec4(0.0, 0.0, two);
        }
    } while (++n < turns(8));
    return found;
}
#else
// Of the finest cells in one of the next grid, six bits each: the sides that are open. In two numbers, by z.
ivec2 open_sides(ivec3 cell) {
    ivec2 found = ivec2(-1);
#if SOLIDS
    found = ivec2(0);
    ivec2 last = ivec2(finer_cells(1), finer_cells(2)) - 1;
    int row = 0;
    do {
        ivec2 odd = ivec2(row & 1, row >> 1);
        int two = int(fetch_openings(ivec3(cell.x >> 1, min(2 * cell.yz + odd, last))).x) >> 12 * (cell.x & 1) & 0xfff;
        found |= (two << 12 * odd.x) * ivec2(1 - odd.y, odd.y);
    } while (++row < turns(4));
#endif
    return found;
}

// Bits 0, 6, 12 and 18 side by side.
ivec2 every_sixth(ivec2 bits) {
    bits &= 0x41041;
    return (bits | bits >> 5 | bits >> 10 | bits >> 15) & 15;
}
#endif

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

// The weights of a cell: of its low faces, and the sum.
vec4 weights_of(ivec3 cell) {
    int own = joined_at(cell), s = stride / 2, side = 0;
    vec4 found = vec4(0.0);
#if !WEIGHTED
    ivec2 sides = open_sides(cell);
#endif
    do {
        int axis = side >> 1, i = cell[axis], n = finest[axis], count = finer_cells(axis), end = cells[axis] - 1;
        bool high = (side & 1) == 1, at_side = !periodic[axis] && i == (high ? end : 0);
        ivec3 other = cell;
        other[axis] = or_round(high ? i + 1 : i - 1, end + 1);
        // along the axis: the finer cell whose low face it is, and the one it leads to. The last of all may be a cell by itself.
        int at = high ? or_round(min(2 * i + 2, count), count) : 2 * i, to = high ? at : or_round(2 * i - 1, count);
        bool single = (count & 1) == 1 && (high ? i : other[axis]) == end;
        int far = single ? 0 : 1 << axis, here = high ? far : 0, there = high ? 0 : far;
        // bits of finer cells: those that face this side, and of them those that meet one that a coarse cell stands for
        int low = axis == 0 ? 0x55 : axis == 1 ? 0x33 : 0x0f, facing = own & low << here;
        int met = facing & (joined_at(other) >> there & low) << here;
        float joined = 0.0, lost = 0.0;
#if WEIGHTED
        int quarter = 0;
        do {
            ivec2 odd = ivec2(quarter) >> ivec2(0, 1) & 1;
            ivec3 across = axis == 0 ? ivec3(0, odd) : axis == 1 ? ivec3(odd.x, 0, odd.y) : ivec3(odd, 0), face = 2 * cell + across;
            face[axis] = at;
            int bit = across.x + 2 * across.y + 4 * across.z + here;
            float weight = low_face(face, axis);
            joined += weight * float(met >> bit & 1);
            lost += weight * float((facing ^ met) >> bit & 1);
        } while (++quarter < turns(4));
        float apart = distance_before(at, n, s);  // to areas
        joined *= apart;
        lost *= apart;
#else
        ivec2 open = every_sixth(sides >> side);
        facing &= open.x | open.y << 4;
        joined = float(counted_bits(facing & met));
        lost = float(counted_bits(facing & ~met));
        if (at_side && (high ? open_high[axis] : open_low[axis])) found.w += (joined + lost) / distance_to_side(high, n, stride);
#endif
        if (end == 0 || at_side) joined = lost = 0.0;
        joined /= distance_before(high ? other[axis] : i, n, stride);
        if (!high) found.xyz += joined * vec3(step_along(axis));
        found.w += joined + lost / (0.5 * (width(i, n, stride) + width(to, n, s)));
    } while (++side < turns(2 * DIMENSIONS));
    return found;
}

void kernel(ivec3 pack) {
    for (int part = 0; part < 4; ++part) weights_out[part] = vec4(0.0);
    // most are, and a software renderer then makes one turn of the loops in place of many
    bool clear = in_the_clear(pack);
    for (int lane = 0; lane < (clear ? 0 : turns(4)); ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        vec4 found = cell.x < cells.x ? weights_of(cell) : vec4(0.0);
        for (int part = 0; part < 4; ++part) weights_out[part] = vec4(weights_out[part].yzw, found[part]);
    }
#if WEIGHTED
    weights_out[3] += leads_out(pack);
#endif
    if (clear) {
        ivec4 x = 4 * pack.x + ivec4(0, 1, 2, 3);
        vec4 sum = vec4(0.0);
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            ivec4 i = axis == 0 ? x : ivec4(pack[axis]);
            vec4 low = vec4(periodic[axis] ? bvec4(true) : notEqual(i, ivec4(0)));
            vec4 high = vec4(periodic[axis] ? bvec4(true) : notEqual(i, ivec4(cells[axis] - 1)));
            weights_out[axis] = 2.0 * low;  // of two by two faces, whose cells' centres are two apart
            sum += 2.0 * (low + high);      // and a centre one from a side
            sum += 4.0 * (float(open_low[axis]) * (1.0 - low) + float(open_high[axis]) * (1.0 - high));
        }
        weights_out[3] = sum;
    }
}
