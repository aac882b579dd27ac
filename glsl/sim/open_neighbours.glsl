// Which neighbours of each cell hold fluid. Packed: 6 bits for each of four cells along x, in the order
// x-, x+, y-, y+, z-, z+, as one whole number below 2^24, which a float holds exactly.
#include "lib/box.glsl"

// Beyond an open side there is fluid, beyond a closed one none.
int is_fluid(ivec3 index) {
    ivec3 cell = wrapped(index);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        if (cell[axis] < 0) return int(open_low[axis]);
        if (cell[axis] >= cells[axis]) return int(open_high[axis]);
    }
    return int(fetch_solid(cell).x < 0.5);
}

// The same of four cells along x from `first` on, which lies in the row.
ivec4 fluid_row(ivec3 first) {
    ivec3 cell = wrapped(first);
    for (int axis = 1; axis < DIMENSIONS; ++axis) {
        if (cell[axis] < 0) return ivec4(open_low[axis]);
        if (cell[axis] >= cells[axis]) return ivec4(open_high[axis]);
    }
    vec4 solid;
    for (int lane = 0; lane < 4; ++lane) solid[lane] = fetch_solid(ivec3(min(cell.x + lane, cells.x - 1), cell.yz)).x;
    return ivec4(lessThan(solid, vec4(0.5)));
}

void kernel(ivec3 pack) {
    ivec3 first = ivec3(4 * pack.x, pack.yz);
    int last = cells.x - 1 - first.x;
    ivec4 own = fluid_row(first), after = ivec4(own.yzw, 0);
    after[min(last, 3)] = is_fluid(first + min(last + 1, 4) * X);
    ivec4 bits = ivec4(is_fluid(first - X), own.xyz) | after << 1;
    bits |= fluid_row(first - Y) << 2 | fluid_row(first + Y) << 3;
#if DIMENSIONS == 3
    bits |= fluid_row(first - Z) << 4 | fluid_row(first + Z) << 5;
#endif
    bits *= own * ivec4(lessThanEqual(ivec4(0, 1, 2, 3), ivec4(last)));
    openings_out = vec4(float(bits.x | bits.y << 6 | bits.z << 12 | bits.w << 18), 0.0, 0.0, 0.0);
}
