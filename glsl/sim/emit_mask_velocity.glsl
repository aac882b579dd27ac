// Sets the velocity (m/s) by the share of each cell in one source; a face has the mean of its two cells. Faces.
#include "lib/emitter.glsl"
#include "lib/solids.glsl"

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz, values = emitters[6].xyz;
    ivec3 cell = neighbour(face);
    float here = fetch_mask(cell).x;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec3 p = face_center(home(face), axis) * cell_size;
        float share = 0.5 * (here + fetch_mask(neighbour(face - step_along(axis))).x);
        u[axis] = mix(u[axis], values[axis], set_share(share * flicker(0, p), emitters[4].z));
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
