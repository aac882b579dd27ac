// Which neighbours of each cell hold fluid. Packed: 6 bits for each of four cells along x, in the order
// x-, x+, y-, y+, z-, z+, as one whole number below 2^24, which a float holds exactly.
#include "lib/box.glsl"

bool is_fluid(ivec3 cell) {
    return cell == in_box(cell) && fetch_solid(in_box(cell)).w < 0.5;
}

void kernel(ivec3 pack) {
    int bits = 0;
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        if (!is_fluid(cell)) continue;
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            if (is_fluid(cell - step_along(axis))) bits |= 1 << (6 * lane + 2 * axis);
            if (is_fluid(cell + step_along(axis))) bits |= 1 << (6 * lane + 2 * axis + 1);
        }
    }
    openings_out = vec4(float(bits), 0.0, 0.0, 0.0);
}
