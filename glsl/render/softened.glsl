// FIELD in a cell as the cubic B-spline of the cells has it: each and its neighbours 1 : 4 : 1 along each axis.
// CORNERS: in the corner between it and the next along each axis, 1 : 23 : 23 : 1.

vec4 softened_FIELD(ivec3 cell) {
    const int deep = DIMENSIONS == 3 ? 1 : 0;
#if CORNERS
    const float middle = 0.5, aside = 13.0 / 24.0, near = 23.0 / 48.0, far = 1.0 / 48.0;
    const int last = 2 * deep;
#else
    const float middle = 0.0, aside = 1.0 / 3.0, near = 2.0 / 3.0, far = 1.0 / 6.0;
    const int last = deep;
#endif
    // cells: two bilinear taps so far to both sides of the middle have these weights
    vec2 place = vec2(cell.xy) + middle;
    vec2 low = max(place - aside, vec2(0.0)), high = min(place + aside, vec2(cells.xy - 1));
    vec4 soft = vec4(0.0);
    for (int z = -deep; z <= last; ++z) {
        int slice = clamp(cell.z + z, 0, cells.z - 1);
        vec4 sum = filtered_FIELD(low, slice) + filtered_FIELD(vec2(high.x, low.y), slice)
            + filtered_FIELD(vec2(low.x, high.y), slice) + filtered_FIELD(high, slice);
        soft += sum * (deep == 0 ? 0.25 : 0.25 * (z == 0 || z == last - 1 ? near : far));
    }
    return soft;
}
