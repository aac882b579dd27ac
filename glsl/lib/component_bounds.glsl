// The smallest and largest of the values round a point in the staggered velocity FIELD.
#include "lib/component.glsl" for FIELD

vec2 bounds_FIELD(vec3 p, int axis) {
    ivec3 last = cells - 1 + step_along(axis), s = min(last, 1);
    ivec3 i = min(ivec3(place_FIELD(p, axis)), max(last - 1, 0));
    vec2 bounds = vec2(fetch_FIELD(i)[axis]);
    for (int corner = 1; corner < (1 << DIMENSIONS); ++corner) {
        float value = fetch_FIELD(i + s * (ivec3(corner) >> ivec3(0, 1, 2) & 1))[axis];
        bounds = vec2(min(bounds.x, value), max(bounds.y, value));
    }
    return bounds_beside_walls(bounds, p, axis);
}
