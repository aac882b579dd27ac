// cell_size^2 times the Laplacian of each component of the staggered velocity FIELD, m/s.
// Faces closed by walls and solids hold what closes them and count as any neighbour; but one inside solids lies half
// a cell beyond their surface, where the velocity is mirrored about theirs as beyond a wall, the same if free-slip.
#include "lib/beyond.glsl"

vec3 beside_FIELD(ivec3 face, vec3 own) {
    vec3 next = fetch_FIELD(face).xyz;
#if SOLIDS
    int bits = int(fetch_solid_faces(face).w);
    ivec3 free = (ivec3(bits) >> ivec3(3, 4, 5)) & 1, inside = (ivec3(bits) >> ivec3(6, 7, 8)) & 1;
    next = mix(next, 2.0 * next - own, equal(inside, ivec3(1)));
    next = mix(next, own, equal(free, ivec3(1)));
#endif
    return next;
}

vec3 below_FIELD(ivec3 face, int axis, vec3 own) {
    if (face[axis] > 0) return beside_FIELD(face - step_along(axis), own);
    if (periodic[axis]) return beside_FIELD(face + step_along(axis) * (cells[axis] - 1), own);
    return velocity_beyond(2 * axis, own);
}

vec3 above_FIELD(ivec3 face, int axis, vec3 own) {
    if (face[axis] == cells[axis]) return own;  // of an open side nothing else is asked for
    vec3 next = beside_FIELD(face + step_along(axis), own);
    if (face[axis] == cells[axis] - 1) {
        vec3 beyond = periodic[axis] ? beside_FIELD(face * (1 - step_along(axis)), own)
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
