// The smallest and largest of the values round a point in the staggered velocity FIELD.
#include "lib/component.glsl" for FIELD

vec2 bounds_FIELD(vec3 p, int axis) {
    Taps at = taps_FIELD(p, axis);
    vec4 square = square_FIELD(at, at.low.z, axis), low = square, high = square;
#if DIMENSIONS == 3
    square = square_FIELD(at, at.high.z, axis);
    low = min(low, square);
    high = max(high, square);
#endif
    low.xy = min(low.xy, low.zw);
    high.xy = max(high.xy, high.zw);
    return bounds_beside_walls(vec2(min(low.x, low.y), max(high.x, high.y)), p, axis);
}
