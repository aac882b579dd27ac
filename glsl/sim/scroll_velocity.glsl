// The velocity in a box that has been moved on by whole cells, m/s. Faces. What comes in through an open side is at
// rest, or moves as the inflow opposite does; through an inflow it comes as that brings it.
#include "lib/came_from.glsl"
#include "lib/solids.glsl"

// Component `axis` of what comes from `from`, which lies beyond a side.
float from_outside(ivec3 from, int axis) {
    for (int across = 0; across < DIMENSIONS; ++across) {
        int length = cells[across] + (across == axis ? 1 : 0);
        bool low = from[across] < 0, high = from[across] >= length;
        if (periodic[across] || !(low || high)) continue;
        bool opposite = low ? open_low[across] : open_high[across];
        return wall_velocity[2 * across + (high != opposite ? 1 : 0)][axis];
    }
    return 0.0;
}

void kernel(ivec3 face) {
    vec3 u = vec3(0.0);
    ivec3 from = came_from(face);
    vec3 here = fetch_velocity(clamp(from, ivec3(0), face_extent - 1)).xyz;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        bool inside = from == clamp(from, ivec3(0), cells - 1 + step_along(axis));
        u[axis] = inside ? here[axis] : from_outside(from, axis);
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
