// FIELD in a cell and beside it, its neighbours along each axis with the share ASIDE each: 1/6 is a cubic B-spline's.

vec4 softened_FIELD(ivec3 cell) {
    const float aside = 2.0 * ASIDE;  // cells: the mean of two bilinear taps so far to both sides
    vec2 low = max(vec2(cell.xy) - aside, vec2(0.0)), high = min(vec2(cell.xy) + aside, vec2(cells.xy - 1));
    const int deep = DIMENSIONS == 3 ? 1 : 0;
    vec4 soft = vec4(0.0);
    for (int z = -deep; z <= deep; ++z) {
        int slice = clamp(cell.z + z, 0, cells.z - 1);
        vec4 sum = filtered_FIELD(low, slice) + filtered_FIELD(vec2(high.x, low.y), slice)
            + filtered_FIELD(vec2(low.x, high.y), slice) + filtered_FIELD(high, slice);
        soft += sum * (0.25 * (deep == 0 ? 1.0 : z == 0 ? 1.0 - 2.0 * ASIDE : ASIDE));
    }
    return soft;
}
