// FIELD in a cell as a mean over it and its neighbours. Beyond a side it goes on as inside it.
// CORNERS: in the corner between it and the next along each axis, over two to both sides.
// LOADED: texel by texel, which takes a software renderer half the time; else by taps between four at once.
#include "lib/box.glsl"

// ends: share of the outermost along each axis; the inner ones share the rest. The cubic B-spline of the cells has
// 1 : 4 : 1 of them, and 1 : 23 : 23 : 1 in a corner.
vec4 softened_FIELD(ivec3 cell, float ends) {
    const int deep = DIMENSIONS == 3 ? 1 : 0, after = 1 + CORNERS, last = deep * after;
    float inner = (1.0 - 2.0 * ends) / float(after);
    vec4 soft = vec4(0.0);
#if LOADED
    for (int z = -deep; z <= last; ++z)
        for (int y = -1; y <= after; ++y)
            for (int x = -1; x <= after; ++x) {
                float share = (x == -1 || x == after ? ends : inner) * (y == -1 || y == after ? ends : inner);
                if (deep == 1) share *= z == -1 || z == last ? ends : inner;
                soft += share * fetch_FIELD(in_box(cell + ivec3(x, y, z)));
            }
#else
    // two taps along x, and two along y, as far from the middle as makes their shares right
    const float middle = 0.5 * float(CORNERS);
    vec2 place = vec2(cell.xy) + middle, aside = vec2(middle + 2.0 * ends);
    // at a side with a trace of the cell before the outermost, more than places in the texture are rounded by: else a filter
    // reads one of another slice
    vec2 last_place = vec2(cells.xy - 1), trace = min(5e-7 * vec2(textureSize(FIELD, 0)), 0.5 * last_place);
    vec2 low = max(place - aside, trace), high = min(place + aside, last_place - trace);
    for (int z = -deep; z <= last; ++z) {
        int slice = clamp(cell.z + z, 0, cells.z - 1);
        vec4 sum = filtered_FIELD(low, slice) + filtered_FIELD(vec2(high.x, low.y), slice)
            + filtered_FIELD(vec2(low.x, high.y), slice) + filtered_FIELD(high, slice);
        soft += sum * (deep == 0 ? 0.25 : 0.25 * (z == -1 || z == last ? ends : inner));
    }
#endif
    return soft;
}
