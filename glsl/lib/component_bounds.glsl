// The staggered velocity FIELD at a point, and the least and the most that a limiter allows there.
#include "lib/component.glsl" for FIELD
#include "lib/within_reach.glsl"
#include "lib/wall_bounds.glsl"

// Component `axis` at `p` and its bounds, m/s. All three are made of the same eight values, which are read once: not
// every compiler sees that they would be read twice.
vec3 bounded_FIELD(vec3 p, int axis) {
    Taps at = taps_FIELD(p, axis);
    Eight values = eight_FIELD(at, axis);
#if HARDWARE_SAMPLER && !ANY_PERIODIC
    float plain = component_FIELD(p, axis);
#else
    float plain = beside_walls(mixed(values, at.share), p, axis);
#endif
    vec3 to_low = reach(1.0 - at.share), to_high = reach(at.share);
    vec4 part = vec2(to_low.x, to_high.x).xyxy * vec2(to_low.y, to_high.y).xxyy;
#if DIMENSIONS == 3
    vec4 low = mix(vec4(plain), values.below, part * to_low.z), high = low;
    vec4 above = mix(vec4(plain), values.above, part * to_high.z);
    low = min(low, above);
    high = max(high, above);
#else
    vec4 low = mix(vec4(plain), values.below, part), high = low;
#endif
    low.xy = min(low.xy, low.zw);
    high.xy = max(high.xy, high.zw);
    return vec3(plain, bounds_beside_walls(vec2(min(low.x, low.y), max(high.x, high.y)), plain, p, axis));
}
