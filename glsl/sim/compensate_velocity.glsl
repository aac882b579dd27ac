// Middle of BFECC (Dupont & Liu 2003; Kim, Liu, Llamas & Rossignac 2007): FIELD, the velocity itself or one that
// was reflected, with the error that carrying it there and back makes taken off beforehand, m/s. Faces. `forward` is it
// carried once.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/component.glsl" for forward

uniform float dt;  // s

float compensated_along(int axis, float before, vec3 to) {
    return 1.5 * before - 0.5 * component_forward(to, axis);
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces to = trace_faces(face, face_velocities(face), -dt);
    vec3 before = fetch_FIELD(face).xyz;
    vec3 value = vec3(compensated_along(0, before.x, to.x), compensated_along(1, before.y, to.y), 0.0);
#if DIMENSIONS == 3
    value.z = compensated_along(2, before.z, to.z);
#endif
    compensated_out = vec4(constrained(here, value), 0.0);
}
