// The smallest and largest of the values round a point in the staggered velocity FIELD.
#include "lib/component.glsl" for FIELD
#include "lib/turns.glsl"

vec2 bounds_FIELD(vec3 p, int axis) {
    Taps at = taps_FIELD(p, axis);
#if GATHERED
    vec4 quad = quad_FIELD(at.low, axis), low = quad, high = quad;
#if DIMENSIONS == 3
    quad = quad_FIELD(ivec3(at.low.xy, at.high.z), axis);
    low = min(low, quad);
    high = max(high, quad);
#endif
    low.xy = min(low.xy, low.zw);
    high.xy = max(high.xy, high.zw);
    vec2 bounds = vec2(min(low.x, low.y), max(high.x, high.y));
#else
    vec2 bounds = vec2(fetch_FIELD(at.low)[axis]);
    for (int corner = 1; corner < turns(1 << DIMENSIONS); ++corner) {
        float value = fetch_FIELD(corner_of(at, corner))[axis];
        bounds = vec2(min(bounds.x, value), max(bounds.y, value));
    }
#endif
    return bounds_beside_walls(bounds, p, axis);
}
