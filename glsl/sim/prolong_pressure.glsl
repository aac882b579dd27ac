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

// The means of two cells side by side along x, which lie in one coarse cell. own: its pressure, where there are none.
vec2 means(ivec3 coarse, ivec2 side, float own) {
    vec2 same = in_fluid(coarse, 1, side.x);
    vec2 low = in_fluid(coarse, 0, -1) + same, high = in_fluid(coarse, 0, 1) + same;
#if DIMENSIONS == 3
    same = in_fluid(coarse, 2, side.y);
    low += same;
    high += same;
#endif
    return vec2(low.y > 0.0 ? low.x / low.y : own, high.y > 0.0 ? high.x / high.y : own);
}
#endif

void kernel(ivec3 pack) {
    vec4 coarse = fetch_coarse_pressure(pack / 2);
    vec2 own = (pack.x & 1) == 0 ? coarse.xy : coarse.zw;
    pressure_out = own.xxyy;
#if SOLIDS
    ivec3 first = ivec3(2 * pack.x, pack.yz / 2), second = ivec3(min(first.x + 1, cells.x / 2 - 1), first.yz);
    bool first_solid = fetch_coarse_solid(first).x >= 0.5;
    bool second_solid = second.x > first.x && fetch_coarse_solid(second).x >= 0.5;
    // mostly neither is solid: then it turns once, for nothing, where a software renderer would run each branch
    int n = first_solid ? 0 : 1;
    do {
        vec2 found = means(n == 0 ? first : second, 2 * (pack.yz & 1) - 1, n == 0 ? own.x : own.y);
        if (n == 0) pressure_out.xy = found;
        else if (second_solid) pressure_out.zw = found;
    } while (++n == 1 && second_solid);
#endif
}
