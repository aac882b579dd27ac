// End of BFECC (Dupont & Liu 2003): what was compensated, carried along the velocity and held to the values that
// FIELD, the velocity itself or one that was reflected, has round the place it comes from, m/s. Faces.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component.glsl" for compensated
#include "lib/component_bounds.glsl" for FIELD
#include "lib/limiter.glsl"

uniform float dt;  // s

float finished_along(ivec3 face, int axis, vec3 from) {
    float value = component_compensated(from, axis);
#if LIMITER
    vec3 plain = bounded_FIELD(from, axis);
    value = limited(value, plain.x, plain.y, plain.z);
#endif
    return still_air(from, face, axis) * value;
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces from = trace_faces(face, face_velocities(face), dt);
    vec3 value = vec3(finished_along(face, 0, from.x), finished_along(face, 1, from.y), 0.0);
#if DIMENSIONS == 3
    value.z = finished_along(face, 2, from.z);
#endif
    velocity_out = vec4(constrained(here, value), 0.0);
}
