// End of BFECC (Dupont & Liu 2003): the compensated velocity carried along the velocity, held to the values
// the velocity had round the place it comes from, m/s. Faces.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component.glsl" for compensated
#include "lib/component_bounds.glsl" for velocity
#include "lib/limiter.glsl"

uniform float dt;  // s

float finished_along(int axis, ivec3 face, vec3 u) {
    vec3 from = trace(face_center(face, axis), u, dt);
    float value = component_compensated(from, axis);
#if LIMITER
    vec2 bounds = bounds_velocity(from, axis);
    value = limited(value, component_velocity(from, axis), bounds.x, bounds.y);
#endif
    return still_air(from) * value;
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    vec3 value = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        if (on_open_high(face, axis))
            value[axis] = finished_along(axis, face, at_velocity(face_center(face, axis)));
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        value.x = finished_along(0, face, at.x);
        value.y = finished_along(1, face, at.y);
#if DIMENSIONS == 3
        value.z = finished_along(2, face, at.z);
#endif
    }
    velocity_out = vec4(constrained(here, value), 0.0);
}
