// Through which of its faces each cell has fluid beside it. Packed: 6 bits for each of four cells along x, in the order
// x-, x+, y-, y+, z-, z+, as one whole number below 2^24, which a float holds exactly.
#include "lib/box.glsl"

// Which low faces of a cell are open, bits 0, 1, 2 for x, y, z.
int open_faces(ivec3 cell) { return ~int(fetch_solid_faces(cell).w) & 7; }

// The same of four cells along x from `first` on, which lies in the row; past its end of the last.
ivec4 open_row(ivec3 first) {
    ivec4 open;
    for (int lane = 0; lane < 4; ++lane) open[lane] = open_faces(ivec3(min(first.x + lane, cells.x - 1), first.yz));
    return open;
}

void kernel(ivec3 pack) {
    ivec3 first = ivec3(4 * pack.x, pack.yz);
    int last = cells.x - 1 - first.x;
    ivec4 own = open_row(first), after = ivec4(own.yzw, 0);
    after[min(last, 3)] = open_faces(first + min(last + 1, 4) * X);
    ivec4 bits = own & 1 | (after & 1) << 1 | (own & 2) << 1 | (open_row(first + Y) & 2) << 2;
#if DIMENSIONS == 3
    bits |= (own & 4) << 2 | (open_row(first + Z) & 4) << 3;
#endif
    bits *= ivec4(lessThanEqual(ivec4(0, 1, 2, 3), ivec4(last)));
    openings_out = vec4(float(bits.x | bits.y << 6 | bits.z << 12 | bits.w << 18), 0.0, 0.0, 0.0);
}
