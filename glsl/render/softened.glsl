// FIELD in a cell as the cubic B-spline of the cells has it: each and its neighbours 1 : 4 : 1 along each axis.

vec4 softened_FIELD(ivec3 cell) {
    const float aside = 1.0 / 3.0;  // cells: two bilinear taps so far to both sides weigh 1 : 4 : 1
    vec2 low = max(vec2(cell.xy) - aside, vec2(0.0)), high = min(vec2(cell.xy) + aside, vec2(cells.xy - 1));
    const int deep = DIMENSIONS == 3 ? 1 : 0;
    vec4 soft = vec4(0.0);
    for (int z = -deep; z <= deep; ++z) {
        int slice = clamp(cell.z + z, 0, cells.z - 1);
        vec4 sum = filtered_FIELD(low, slice) + filtered_FIELD(vec2(high.x, low.y), slice)
            + filtered_FIELD(vec2(low.x, high.y), slice) + filtered_FIELD(high, slice);
        soft += sum * (deep == 0 ? 0.25 : z == 0 ? 1.0 / 6.0 : 1.0 / 24.0);
    }
    return soft;
}
