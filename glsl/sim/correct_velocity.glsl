// Second half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for the velocity, m/s. Faces.
// `forward` is `velocity` after advect_velocity; carrying it back shows half of that pass's error.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/component.glsl" for forward
#include "lib/component_bounds.glsl" for velocity
#include "lib/limiter.glsl"

uniform float dt;  // s

void kernel(ivec3 face) {
    vec3 carried = vec3(0.0);
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        vec3 plain = fetch_forward(face).xyz, before = fetch_velocity(face).xyz;
        for (int axis = 0; axis < axes; ++axis) {
            vec3 start = vec3(face) + 0.5 - 0.5 * vec3(step_along(axis)), u = at_face(at, axis);
            float returned = component_forward(trace(start, u, -dt), axis);
            carried[axis] = plain[axis] + 0.5 * (before[axis] - returned);
#if LIMITER
            vec2 bounds = bounds_velocity(trace(start, u, dt), axis);
            carried[axis] = limited(carried[axis], plain[axis], bounds.x, bounds.y);
#endif
        }
    }
    velocity_out = vec4(constrained(face, carried), 0.0);
}
