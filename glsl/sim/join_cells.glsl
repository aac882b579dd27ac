// Which finer cells a coarse cell stands for, bits x + 2 y + 4 z: of those that are joined through open faces the most,
// of as many the first. Ways round through the finer cells next to it count: only what a wall cuts off is left out, for
// which it would stand wrongly. Packed, four cells along x.
#include "lib/finer.glsl"
#include "lib/turns.glsl"

// Of four finer cells along x: bit 0, 1, 2 where the low face along x, y, z is open, bit 3 where there is fluid.
ivec4 open_faces(int x, int y, int z) {
    ivec3 pack = ivec3(x, y, z);
    if (x < 0 || 4 * x >= finer_cells(0) || y < 0 || y >= finer_cells(1) || z < 0 || z >= finer_cells(2)) return ivec4(0);
#if WEIGHTED
    vec4 none = vec4(0.0);
    ivec4 open = ivec4(greaterThan(fetch_fine_weights_x(pack), none)) | ivec4(greaterThan(fetch_fine_weights_y(pack), none)) << 1;
    open |= ivec4(greaterThan(fetch_fine_weights_z(pack), none)) << 2;
    return open | ivec4(greaterThan(fetch_fine_weights_sum(pack), none)) << 3;
#elif SOLIDS
    ivec4 sides = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18) & 63;
    return sides & 1 | (sides >> 2 & 1) << 1 | (sides >> 4 & 1) << 2 | ivec4(notEqual(sides, ivec4(0))) << 3;
#else
    return 15 * ivec4(lessThan(4 * x + ivec4(0, 1, 2, 3), ivec4(finer_cells(0))));
#endif
}

// Bits 0, 4, 8 and 12 side by side.
ivec4 every_fourth(ivec4 bits) { return (bits & 0x1111) * 0x1248 >> 12 & 15; }

// A layer of 4 x 4 finer cells round a coarse one, bits x + 4 y. Its own are the four in the middle.
ivec4 spread(ivec4 four) { return (four & 3) << 5 | (four & 12) << 7; }
ivec4 middle(ivec4 layer) { return layer >> 5 & 3 | layer >> 7 & 12; }

// Whether four coarse cells stand for all their finer cells, which then are joined through faces of their own.
bool whole(ivec3 pack) {
    ivec4 missing = ivec4(0);
    for (int n = 0; n < 1 << DIMENSIONS - 1; ++n) {
        ivec2 odd = ivec2(n & 1, n >> 1);
        ivec4 need = (8 | odd.x << 1 | odd.y << 2) | ivec4(0, 1, 0, 1);
        for (int part = 0; part < 2; ++part) missing |= need & ~open_faces(2 * pack.x + part, 2 * pack.y + odd.x, 2 * pack.z + odd.y);
    }
    return missing == ivec4(0);
}

void kernel(ivec3 pack) {
    // most are, and a software renderer then makes one turn of the loops below in place of many
    bool all = whole(pack);
    // of each of four coarse cells, by layers along z
    ivec4 fluid[4], open_x[4], open_y[4], open_z[4];
    for (int k = 0; k < 4; ++k) fluid[k] = open_x[k] = open_y[k] = open_z[k] = ivec4(0);
    const int first = DIMENSIONS == 3 ? 0 : 1, count = DIMENSIONS == 3 ? 4 : 1;
    for (int k = first; k < first + (all ? 0 : turns(count)); ++k) {
        ivec4 found[4] = ivec4[4](ivec4(0), ivec4(0), ivec4(0), ivec4(0));
        for (int j = 0; j < turns(4); ++j) {
            ivec4 codes[4];
            for (int n = 0; n < 4; ++n) codes[n] = open_faces(2 * pack.x - 1 + n, 2 * pack.y - 1 + j, 2 * pack.z - 1 + k);
            ivec4 even = ivec4(codes[1].xz, codes[2].xz), odd = ivec4(codes[1].yw, codes[2].yw);
            ivec4 row = ivec4(codes[0].w, odd.xyz) | even << 4 | odd << 8 | ivec4(even.yzw, codes[3].x) << 12;
            for (int bit = 0; bit < 4; ++bit) found[bit] |= every_fourth(row >> bit) << (4 * j);
        }
        open_x[k] = found[0] & 0xeeee;  // not from one row to the next
        open_y[k] = found[1];
        open_z[k] = found[2];
        fluid[k] = found[3];
    }

    ivec4 rest = middle(fluid[1]) | middle(fluid[2]) << 4, most = ivec4(0), best = ivec4(0);
    while (rest != ivec4(0)) {
        ivec4 seed = rest & -rest, part[4] = ivec4[4](ivec4(0), spread(seed & 15), spread(seed >> 4), ivec4(0));
        bool grown = true;
        while (grown) {
            grown = false;
            for (int k = 0; k < 4; ++k) {
                ivec4 was = part[k], now = was;
                if (k > 0) now |= part[k - 1] & open_z[k];
                if (k < 3) now |= part[k + 1] & open_z[k + 1];
                now |= now << 1 & open_x[k] | (now & open_x[k]) >> 1;
                now |= now << 4 & open_y[k] | (now & open_y[k]) >> 4;
                part[k] = now & fluid[k];
                grown = grown || part[k] != was;
            }
        }
        ivec4 own = middle(part[1]) | middle(part[2]) << 4;
        rest &= ~own;
        ivec4 count = (own & 0x55) + (own >> 1 & 0x55);
        count = (count & 0x33) + (count >> 2 & 0x33);
        count = (count & 0x0f) + (count >> 4);
        bvec4 more = greaterThan(count, most);
        most = max(most, count);
        best = best * ivec4(not(more)) + own * ivec4(more);
    }
    joined_out = vec4(all ? ivec4((1 << (1 << DIMENSIONS)) - 1) : best);
}
