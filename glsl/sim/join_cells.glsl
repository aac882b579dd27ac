// Which finer cells a coarse cell stands for, bits x + 2 y + 4 z: of those that are joined through open faces the most,
// of as many the first. Ways round through the finer cells next to it count: only what a wall cuts off is left out, for
// which it would stand wrongly. Packed, four cells along x.
#include "lib/counted_bits.glsl"
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
uvec4 every_fourth(ivec4 bits) { return uvec4((bits & 0x1111) * 0x1248 >> 12 & 15); }

// Of 4 x 4 x 4 finer cells round a coarse one a bit for each, x + 4 y + 16 z, in two words. Its own are the eight in the
// middle.
const uvec2 OWN = uvec2(0x06600000u, 0x00000660u), NOT_FIRST_X = uvec2(0xeeeeeeeeu), NOT_FIRST_Y = uvec2(0xfff0fff0u);

// Bits x + 2 y + 4 z of its own.
int middle(uvec2 bits) {
    uvec2 four = uvec2(bits.x >> 21, bits.y >> 5);
    four = four & 3u | four >> 2 & 12u;
    return int(four.x | four.y << 4);
}

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
    // of each of four coarse cells, whose words are kept apart: x, y, z, fluid
    uvec4 low[4], high[4];
    for (int bit = 0; bit < 4; ++bit) low[bit] = high[bit] = uvec4(0u);
    const int first = DIMENSIONS == 3 ? 0 : 4, count = DIMENSIONS == 3 ? 16 : 4;
    for (int row = first; row < first + (all ? 0 : turns(count)); ++row) {
        ivec4 codes[4];
        for (int n = 0; n < 4; ++n) codes[n] = open_faces(2 * pack.x - 1 + n, 2 * pack.y - 1 + (row & 3), 2 * pack.z - 1 + (row >> 2));
        ivec4 even = ivec4(codes[1].xz, codes[2].xz), odd = ivec4(codes[1].yw, codes[2].yw);
        ivec4 along = ivec4(codes[0].w, odd.xyz) | even << 4 | odd << 8 | ivec4(even.yzw, codes[3].x) << 12;
        uint in_low = row < 8 ? ~0u : 0u;
        for (int bit = 0; bit < 4; ++bit) {
            uvec4 found = every_fourth(along >> bit) << uint(4 * (row & 7));
            low[bit] |= found & in_low;
            high[bit] |= found & ~in_low;
        }
    }

    // one after the other: a software renderer compiles what is done for each once
    vec4 joined = vec4(0.0);
    int lane = 0;
    do {
        uvec2 open_x = uvec2(low[0].x, high[0].x) & NOT_FIRST_X, open_y = uvec2(low[1].x, high[1].x) & NOT_FIRST_Y;
        uvec2 open_z = uvec2(low[2].x, high[2].x), fluid = uvec2(low[3].x, high[3].x), rest = fluid & OWN;
        int most = 0, best = 0;
        while (rest != uvec2(0u)) {
            uvec2 part = rest.x != 0u ? uvec2(rest.x & -rest.x, 0u) : uvec2(0u, rest.y & -rest.y), was;
            do {
                was = part;
                part |= part << 1 & open_x | (part & open_x) >> 1;
                part |= part << 4 & open_y | (part & open_y) >> 4;
                part |= uvec2(part.x << 16, part.y << 16 | part.x >> 16) & open_z;
                uvec2 up = part & open_z;
                part |= uvec2(up.x >> 16 | up.y << 16, up.y >> 16);
                part &= fluid;
            } while (part != was);
            rest &= ~part;
            int own = middle(part), members = counted_bits(own);
            best = members > most ? own : best;
            most = max(most, members);
        }
        joined = vec4(joined.yzw, float(best));
        for (int bit = 0; bit < 4; ++bit) {
            low[bit] = low[bit].yzwx;
            high[bit] = high[bit].yzwx;
        }
    } while (++lane < turns(4));
    joined_out = all ? vec4(float((1 << (1 << DIMENSIONS)) - 1)) : joined;
}
