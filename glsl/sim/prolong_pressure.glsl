// The pressure over that of a grid with half as many cells along each axis, m^2/s^2: the same in all of a coarse cell.
// In a solid one, where a cell may hold fluid, the mean of those with fluid that this cell lies nearest to along each
// axis: so what is on one side of a thin wall does not show on the other. Packed: four cells along x.
#include "lib/box.glsl"

#if SOLIDS
// What the coarse cell `by` further along an axis adds to such a mean: its pressure, and 1; or nothing.
vec2 in_fluid(ivec3 coarse, int axis, int by) {
    int count = cells[axis] / 2;
    coarse[axis] += by;
    if (periodic[axis]) coarse[axis] = (coarse[axis] + count) % count;
    if (coarse[axis] < 0 || coarse[axis] == count || fetch_coarse_solid(coarse).x >= 0.5) return vec2(0.0);
    return vec2(fetch_coarse_pressure(ivec3(coarse.x / 4, coarse.yz))[coarse.x % 4], 1.0);
}

float pressure_at(ivec3 cell, float own) {
    ivec3 coarse = cell / 2;
    if (fetch_coarse_solid(coarse).x < 0.5) return own;
    vec2 sum = vec2(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) sum += in_fluid(coarse, axis, 2 * (cell[axis] & 1) - 1);
    return sum.y > 0.0 ? sum.x / sum.y : own;
}
#endif

void kernel(ivec3 pack) {
    vec4 four = fetch_coarse_pressure(pack / 2);
    four = (pack.x & 1) == 0 ? four.xxyy : four.zzww;
#if SOLIDS
    for (int lane = 0; lane < 4 && 4 * pack.x + lane < cells.x; ++lane)
        four[lane] = pressure_at(ivec3(4 * pack.x + lane, pack.yz), four[lane]);
#endif
    pressure_out = four;
}
