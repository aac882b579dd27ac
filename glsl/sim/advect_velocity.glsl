// Velocity carried along itself for `dt` seconds, semi-Lagrangian (Stam 1999), m/s. Faces.
// CUBIC: the value there is monotone cubic, not trilinear; the path is the same.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#if CUBIC
#include "lib/component_cubic.glsl" for velocity
#endif

uniform float dt;  // s

// One call for each axis, not a loop: the axis is then a constant, and of each texel one channel is loaded.
float carried_along(int axis, ivec3 face, vec3 u) {
    vec3 from = trace(face_center(face, axis), u, dt);
#if CUBIC
    return still_air(from) * cubic_velocity(from, axis);
#else
    return still_air(from) * component_velocity(from, axis);
#endif
}

void kernel(ivec3 here) {
    vec3 carried = vec3(0.0);
    ivec3 face = home(here);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        if (on_open_high(face, axis))
            carried[axis] = carried_along(axis, face, at_velocity(face_center(face, axis)));
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        carried.x = carried_along(0, face, at.x);
        carried.y = carried_along(1, face, at.y);
#if DIMENSIONS == 3
        carried.z = carried_along(2, face, at.z);
#endif
    }
    carried_out = vec4(constrained(here, carried), 0.0);
}
