// Which finer cells a coarse cell stands for, bits x + 2 y + 4 z: of those that are joined through faces inside it
// the most, of as many the first. What a solid cuts off from them it would stand for wrongly. Packed, four cells along x.
#include "lib/finer.glsl"
#include "lib/turns.glsl"

// Of the finer cells of a coarse one, bit by bit: which hold fluid; from which one gets to the next along x, y and z.
ivec4 inside(ivec3 cell) {
    ivec4 found = ivec4(0);
    for (int n = 0; n < turns(8); ++n) {
        ivec3 fine = 2 * cell + (ivec3(n) >> ivec3(0, 1, 2) & 1);
        if (fine.x >= finer_cells(0) || fine.y >= finer_cells(1) || fine.z >= finer_cells(2)) continue;
#if WEIGHTED
        bool fluid = fine_weight(fine, 3) > 0.0;
        ivec3 joined = ivec3(0);
        for (int axis = 0; axis < DIMENSIONS; ++axis)
            if (fine[axis] + 1 < finer_cells(axis)) joined[axis] = int(fine_weight(fine + step_along(axis), axis) > 0.0);
#else
        int sides = open_sides(fine);
        bool fluid = sides != 0;
        ivec3 joined = ivec3(sides) >> ivec3(1, 3, 5) & 1;
#endif
        found |= ivec4(int(fluid), joined) << n;
    }
    return found & ivec4(0xff, 0x55, 0x33, 0x0f);  // not out of the coarse cell
}

int most_joined(ivec3 cell) {
    ivec4 here = inside(cell);
    int best = 0, most = 0, rest = here.x;
    while (rest != 0) {
        int part = rest & -rest, before = 0;
        while (part != before) {
            before = part;
            part |= ((part & here.y) << 1 | (part >> 1 & here.y)) & here.x;
            part |= ((part & here.z) << 2 | (part >> 2 & here.z)) & here.x;
            part |= ((part & here.w) << 4 | (part >> 4 & here.w)) & here.x;
        }
        rest &= ~part;
        int count = (part & 0x55) + (part >> 1 & 0x55);
        count = (count & 0x33) + (count >> 2 & 0x33);
        count = (count & 0x0f) + (count >> 4);
        if (count > most) {
            most = count;
            best = part;
        }
    }
    return best;
}

void kernel(ivec3 pack) {
    for (int lane = 0; lane < turns(4); ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        if (cell.x < cells.x) joined_out[lane] = float(most_joined(cell));
    }
}
