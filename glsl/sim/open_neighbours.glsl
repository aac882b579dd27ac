// Which neighbours of each cell hold fluid. Packed: 6 bits for each of four cells along x, in the order
// x-, x+, y-, y+, z-, z+, as one whole number below 2^24, which a float holds exactly.
#include "lib/box.glsl"

// Beyond an open side there is fluid, beyond a closed one none.
bool is_fluid(ivec3 index) {
    ivec3 cell = wrapped(index);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        if (cell[axis] < 0) return open_low[axis];
        if (cell[axis] >= cells[axis]) return open_high[axis];
    }
    return fetch_solid(cell).x < 0.5;
}

void kernel(ivec3 pack) {
    int bits = 0;
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        if (cell.x >= cells.x || !is_fluid(cell)) continue;
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            if (is_fluid(cell - step_along(axis))) bits |= 1 << (6 * lane + 2 * axis);
            if (is_fluid(cell + step_along(axis))) bits |= 1 << (6 * lane + 2 * axis + 1);
        }
    }
    openings_out = vec4(float(bits), 0.0, 0.0, 0.0);
}
