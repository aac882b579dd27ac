// Velocity carried along itself for `dt` seconds, semi-Lagrangian (Stam 1999), m/s. Faces.
#include "lib/solids.glsl"
#include "lib/trace.glsl"

uniform float dt;  // s

void kernel(ivec3 face) {
    vec3 carried = vec3(0.0);
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        for (int axis = 0; axis < axes; ++axis) {
            vec3 start = vec3(face) + 0.5 - 0.5 * vec3(step_along(axis));
            carried[axis] = component_velocity(trace(start, at_face(at, axis), dt), axis);
        }
    }
    carried_out = vec4(constrained(face, carried), 0.0);
}
