// The smallest and largest of the values round a point in the staggered velocity FIELD.
#include "lib/component.glsl" for FIELD
#include "lib/turns.glsl"

vec2 bounds_FIELD(vec3 p, int axis) {
    Taps at = taps_FIELD(p, axis);
    vec2 bounds = vec2(fetch_FIELD(at.low)[axis]);
    for (int corner = 1; corner < turns(1 << DIMENSIONS); ++corner) {
        float value = fetch_FIELD(corner_of(at, corner))[axis];
        bounds = vec2(min(bounds.x, value), max(bounds.y, value));
    }
    return bounds_beside_walls(bounds, p, axis);
}
