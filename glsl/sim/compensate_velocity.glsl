// Middle of BFECC (Dupont & Liu 2003; Kim, Liu, Llamas & Rossignac 2007): the velocity with the error that
// carrying it there and back makes taken off beforehand, m/s. Faces. `forward` is `velocity` carried once.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/component.glsl" for forward

uniform float dt;  // s

float compensated_along(int axis, ivec3 face, vec3 u, float before) {
    return 1.5 * before - 0.5 * component_forward(trace(face_center(face, axis), u, -dt), axis);
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    vec3 before = fetch_velocity(face).xyz, value = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        if (on_open_high(face, axis))
            value[axis] = compensated_along(axis, face, at_velocity(face_center(face, axis)), before[axis]);
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        value.x = compensated_along(0, face, at.x, before.x);
        value.y = compensated_along(1, face, at.y, before.y);
#if DIMENSIONS == 3
        value.z = compensated_along(2, face, at.z, before.z);
#endif
    }
    compensated_out = vec4(constrained(here, value), 0.0);
}
