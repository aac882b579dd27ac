// Second half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for the velocity, m/s. Faces.
// `forward` is `velocity` after advect_velocity; carrying it back shows half of that pass's error.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component.glsl" for forward
#include "lib/component_bounds.glsl" for velocity
#include "lib/limiter.glsl"

uniform float dt;  // s

// One call for each axis, not a loop: the axis is then a constant, and of each texel one channel is loaded.
float corrected_along(int axis, ivec3 face, vec3 u, float before, float plain) {
    vec3 start = face_center(face, axis);
    float value = plain + 0.5 * (before - component_forward(trace(start, u, -dt), axis));
    vec3 from = trace(start, u, dt);
#if LIMITER
    vec2 bounds = bounds_velocity(from, axis);
    value = limited(value, plain, bounds.x, bounds.y);
#endif
    return mix(plain, value, still_air(from));
}

void kernel(ivec3 here) {
    vec3 carried = vec3(0.0);
    ivec3 face = home(here);
    vec3 plain = fetch_forward(face).xyz, before = fetch_velocity(face).xyz;
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        if (on_open_high(face, axis)) {
            vec3 u = at_velocity(face_center(face, axis));
            carried[axis] = corrected_along(axis, face, u, before[axis], plain[axis]);
        }
    if (!past_cells(face)) {
        FaceVelocities at = face_velocities(face);
        carried.x = corrected_along(0, face, at.x, before.x, plain.x);
        carried.y = corrected_along(1, face, at.y, before.y, plain.y);
#if DIMENSIONS == 3
        carried.z = corrected_along(2, face, at.z, before.z, plain.z);
#endif
    }
    velocity_out = vec4(constrained(here, carried), 0.0);
}
