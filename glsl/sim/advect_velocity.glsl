// FIELD, the velocity itself or one that was reflected, carried along the velocity for `dt` seconds, semi-Lagrangian
// (Stam 1999), m/s. Faces.
// CUBIC: the value there is monotone cubic, not trilinear; the path is the same.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component.glsl" for FIELD
#if CUBIC
#include "lib/component_cubic.glsl" for FIELD
#endif

uniform float dt;  // s

// Its axis is a constant wherever it is called: of each texel one channel is then loaded.
float carried_along(ivec3 face, int axis, vec3 from) {
#if CUBIC
    return still_air(from, face, axis) * cubic_FIELD(from, axis);
#else
    return still_air(from, face, axis) * component_FIELD(from, axis);
#endif
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces from = trace_faces(face, face_velocities(face), dt);
    vec3 carried = vec3(carried_along(face, 0, from.x), carried_along(face, 1, from.y), 0.0);
#if DIMENSIONS == 3
    carried.z = carried_along(face, 2, from.z);
#endif
    carried_out = vec4(constrained(here, carried), 0.0);
}
