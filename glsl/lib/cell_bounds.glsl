// The smallest and largest of the values round a point in the cell-centred FIELD, of those its sample sees.
#include "lib/cell_sample.glsl" for FIELD

struct Bounds {
    vec4 low, high;
};

Bounds bounds_FIELD(vec3 p) {
    Taps at = taps(p - 0.5, cells);
    Bounds bounds = Bounds(vec4(3.4e38), vec4(-3.4e38));
    const int corners = 1 << DIMENSIONS;
    vec4 values[corners];
    int fluid = 0;
    for (int n = 0; n < corners; ++n) {
        values[n] = fetch_FIELD(corner_of(at, n));
        fluid |= int(values[n].w > 0.5) << n;
    }
#if SOLIDS
    int seen = reachable(fluid, at.share);
#else
    const int seen = 0xFF;
#endif
    for (int n = 0; n < corners; ++n)
        if ((seen >> n & 1) == 1) {
            bounds.low = min(bounds.low, values[n]);
            bounds.high = max(bounds.high, values[n]);
        }
    return bounds;
}
