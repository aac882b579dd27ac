// The smallest and largest of the values round a point in the cell-centred FIELD, over the fluid alone.
#include "lib/cell_sample.glsl" for FIELD

struct Bounds {
    vec4 low, high;
};

Bounds bounds_FIELD(vec3 p) {
    Taps at = taps(p - 0.5, cells);
    Bounds bounds = Bounds(vec4(3.4e38), vec4(-3.4e38));
    for (int corner = 0; corner < (1 << DIMENSIONS); ++corner) {
        vec4 value = fetch_FIELD(at.low + (at.high - at.low) * (ivec3(corner) >> ivec3(0, 1, 2) & 1));
#if SOLIDS
        if (value.w < 0.5) continue;
#endif
        bounds.low = min(bounds.low, value);
        bounds.high = max(bounds.high, value);
    }
    return bounds;
}
