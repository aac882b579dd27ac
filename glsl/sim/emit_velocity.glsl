// Sets the velocity (m/s) where the emitters are. Faces.
#include "lib/emitter.glsl"
#include "lib/solids.glsl"
// fourth vec4 of an emitter: velocity (m/s), 1 where it sets the velocity

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    for (int n = 0; n < emitter_count; ++n) {
        vec4 values = emitters[4 * n + 3];
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            vec3 p = face_center(home(face), axis) * cell_size;
            u[axis] = mix(u[axis], values[axis], emitter_weight(n, p) * values.w);
        }
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
