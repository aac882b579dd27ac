// cell_size^2 times the Laplacian of each component of the staggered velocity FIELD, m/s.
// Faces closed by walls and solids hold what closes them and count as any neighbour.
#include "lib/beyond.glsl"

vec3 below_FIELD(ivec3 face, int axis, vec3 own) {
    if (face[axis] > 0) return fetch_FIELD(face - step_along(axis)).xyz;
    if (periodic[axis]) return fetch_FIELD(face + step_along(axis) * (cells[axis] - 1)).xyz;
    return velocity_beyond(2 * axis, own);
}

vec3 above_FIELD(ivec3 face, int axis, vec3 own) {
    if (face[axis] == cells[axis]) return own;  // of an open side nothing else is asked for
    vec3 next = fetch_FIELD(face + step_along(axis)).xyz;
    if (face[axis] == cells[axis] - 1) {
        vec3 beyond = periodic[axis] ? fetch_FIELD(face * (1 - step_along(axis))).xyz
                                     : velocity_beyond(2 * axis + 1, own);
        next = mix(beyond, next, equal(ivec3(0, 1, 2), ivec3(axis)));  // the face of the side itself is stored
    }
    return next;
}

vec3 laplacian_FIELD(ivec3 face) {
    vec3 own = fetch_FIELD(face).xyz;
    vec3 sum = (below_FIELD(face, 0, own) - own) + (above_FIELD(face, 0, own) - own)
             + (below_FIELD(face, 1, own) - own) + (above_FIELD(face, 1, own) - own);
#if DIMENSIONS == 3
    sum += (below_FIELD(face, 2, own) - own) + (above_FIELD(face, 2, own) - own);
#endif
    return sum;
}
