// The least and the most that a limiter allows at a point in the staggered velocity FIELD.
#include "lib/component.glsl" for FIELD
#include "lib/within_reach.glsl"
#include "lib/wall_bounds.glsl"

// plain: component `axis` at `p`.
vec2 bounds_FIELD(vec3 p, int axis, float plain) {
    Taps at = taps_FIELD(p, axis);
    vec3 to_low = reach(1.0 - at.share), to_high = reach(at.share);
    vec4 part = vec2(to_low.x, to_high.x).xyxy * vec2(to_low.y, to_high.y).xxyy;
#if DIMENSIONS == 3
    vec4 low = mix(vec4(plain), square_FIELD(at, at.low.z, axis), part * to_low.z), high = low;
    vec4 above = mix(vec4(plain), square_FIELD(at, at.high.z, axis), part * to_high.z);
    low = min(low, above);
    high = max(high, above);
#else
    vec4 low = mix(vec4(plain), square_FIELD(at, at.low.z, axis), part), high = low;
#endif
    low.xy = min(low.xy, low.zw);
    high.xy = max(high.xy, high.zw);
    return bounds_beside_walls(vec2(min(low.x, low.y), max(high.x, high.y)), plain, p, axis);
}
