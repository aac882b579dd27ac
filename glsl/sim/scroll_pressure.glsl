// The pressure in a box that has been moved on by whole cells, m^2/s^2: where the next solve starts. What comes in has 0,
// as on an open side; from an inflow that of the nearest cell. Packed: four cells along x.
#include "lib/came_from.glsl"

float pressure_from(ivec3 cell) {
    ivec3 from = came_from(cell);
    bvec3 low = lessThan(from, ivec3(0)), high = greaterThanEqual(from, cells);
    bool fresh = false;
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        fresh = fresh || (low[axis] && open_low[axis]) || (high[axis] && open_high[axis]);
    from = in_box(from);
    return fresh ? 0.0 : fetch_pressure(ivec3(from.x / 4, from.yz))[from.x % 4];
}

void kernel(ivec3 pack) {
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        pressure_out[lane] = cell.x < cells.x ? pressure_from(cell) : 0.0;
    }
}
