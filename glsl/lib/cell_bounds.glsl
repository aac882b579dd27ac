// The least and the most that a limiter allows at a point in the cell-centred FIELD, by the values its sample sees.
#include "lib/cell_sample.glsl" for FIELD
#include "lib/within_reach.glsl"

struct Bounds {
    vec4 low, high;
};

// plain: the sample at `p`. Where it sees nothing the last channel of `low` is above that of `high`.
Bounds bounds_FIELD(vec3 p, vec3 plain) {
    Taps at = taps(p - 0.5, cells);
    vec3 to_low = reach(1.0 - at.share), to_high = reach(at.share);
    Bounds bounds = Bounds(vec4(3.4e38), vec4(-3.4e38));
    const int corners = 1 << DIMENSIONS;
    vec4 values[corners];
    int fluid = 0;
    for (int n = 0; n < corners; ++n) {
        values[n] = fetch_FIELD(corner_of(at, n));
        fluid |= int(values[n].w > COUNTED) << n;
#if COVERED
        values[n] /= max(values[n].w, 0.05);  // a share of what was there, see was_fluid.glsl
#endif
    }
#if SOLIDS
    int seen = reachable(fluid, at.share);
#else
    const int seen = 0xFF;
#endif
    for (int n = 0; n < corners; ++n)
        if ((seen >> n & 1) == 1) {
            vec3 part = mix(to_low, to_high, equal(ivec3(n) >> ivec3(0, 1, 2) & 1, ivec3(1)));
            vec4 allowed = mix(vec4(plain, 1.0), values[n], part.x * part.y * (DIMENSIONS == 3 ? part.z : 1.0));
            bounds.low = min(bounds.low, allowed);
            bounds.high = max(bounds.high, allowed);
        }
    return bounds;
}
