// No-slip walls seen by a sample between the faces.
#include "lib/box.glsl"

// `value` of velocity component `axis`, interpolated from inside the box alone, at `p` (cells). Within half
// a cell of a no-slip wall it falls linearly to the wall's own velocity, as a mirrored ghost cell makes it.
float beside_walls(float value, vec3 p, int axis) {
#if NO_SLIP
    for (int side = 0; side < 2 * DIMENSIONS; ++side) {
        int across = side / 2;
        if (across == axis || (NO_SLIP >> side & 1) == 0) continue;
        float distance = (side & 1) == 0 ? p[across] : float(cells[across]) - p[across];
        value = mix(wall_velocity[side][axis], value, clamp(2.0 * distance, 0.0, 1.0));
    }
#endif
    return value;
}

// The same widening for the bounds of a limiter: beside a wall its velocity is one of the values round `p`.
vec2 bounds_beside_walls(vec2 bounds, vec3 p, int axis) {
#if NO_SLIP
    for (int side = 0; side < 2 * DIMENSIONS; ++side) {
        int across = side / 2;
        if (across == axis || (NO_SLIP >> side & 1) == 0) continue;
        float distance = (side & 1) == 0 ? p[across] : float(cells[across]) - p[across];
        float wall = wall_velocity[side][axis];
        if (distance < 0.5) bounds = vec2(min(bounds.x, wall), max(bounds.y, wall));
    }
#endif
    return bounds;
}
