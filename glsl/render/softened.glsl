// FIELD in a cell as the cubic B-spline of the cells has it: each and its neighbours 1 : 4 : 1 along each axis.
// CORNERS: in the corner between it and the next along each axis, 1 : 23 : 23 : 1.

#if CORNERS
const float middle_FIELD = 0.5;  // cells behind the middle of the cell
#else
const float middle_FIELD = 0.0;
#endif

// Two bilinear taps `aside` cells to both sides of the middle along x and y, and slices of the shares `near` and `far`.
vec4 filtered_round_FIELD(ivec3 cell, float aside, float near, float far) {
    const int deep = DIMENSIONS == 3 ? 1 : 0, last = middle_FIELD > 0.0 ? 2 * deep : deep;
    vec2 place = vec2(cell.xy) + middle_FIELD;
    // at a side with a trace of the cell before the outermost, more than places in the texture are rounded by: else a filter
    // reads one of another slice
    vec2 last_place = vec2(cells.xy - 1), trace = min(5e-7 * vec2(textureSize(FIELD, 0)), 0.5 * last_place);
    vec2 low = max(place - aside, trace), high = min(place + aside, last_place - trace);
    vec4 soft = vec4(0.0);
    for (int z = -deep; z <= last; ++z) {
        int slice = clamp(cell.z + z, 0, cells.z - 1);
        vec4 sum = filtered_FIELD(low, slice) + filtered_FIELD(vec2(high.x, low.y), slice)
            + filtered_FIELD(vec2(low.x, high.y), slice) + filtered_FIELD(high, slice);
        soft += sum * (deep == 0 ? 0.25 : 0.25 * (z == 0 || z == last - 1 ? near : far));
    }
    return soft;
}

vec4 softened_FIELD(ivec3 cell) {
#if CORNERS
    return filtered_round_FIELD(cell, 13.0 / 24.0, 23.0 / 48.0, 1.0 / 48.0);
#else
    return filtered_round_FIELD(cell, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 6.0);
#endif
}
