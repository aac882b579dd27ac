// Sets the velocity (m/s) where the emitters are. Faces.
#include "lib/emitter.glsl"
#include "lib/solids.glsl"

uniform int emitter_count;  // at least 1: the test comes last, a software renderer goes through a loop once before it knows

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    vec3 weight = vec3(0.0);
    int n = 0;
    do {
        vec3 values = emitters[8 * n + 6].xyz;
        float times = emitters[8 * n + 4].z;
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            vec3 p = face_center(home(face), axis) * cell_size;
            weight[axis] = with_image(n, weight[axis], emitter_weight(n, p));
            u[axis] = mix(u[axis], values[axis], set_share(weight[axis], times));
        }
    } while (++n < emitter_count);
    velocity_out = vec4(constrained(face, u), 0.0);
}
