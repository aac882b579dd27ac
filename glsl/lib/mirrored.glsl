// How many neighbours of each component at `face` face_laplacian.glsl mirrors about the velocity of what holds the fluid.
#include "lib/box.glsl"

vec3 mirrored_in_solids(ivec3 face) {
#if SOLIDS
    ivec3 bits = ivec3(int(fetch_solid_faces(face).w));
    return vec3((bits >> ivec3(6, 7, 8)) & ~(bits >> ivec3(3, 4, 5)) & 1);
#else
    return vec3(0.0);
#endif
}

vec3 mirrored(ivec3 face) {
    vec3 sum = vec3(0.0);
    for (int side = 0; side < 2 * DIMENSIONS; ++side) {
        int axis = side / 2;
        ivec3 along = step_along(axis), next = wrapped(face + (2 * (side & 1) - 1) * along);
        bool beyond = next[axis] < 0 || next[axis] >= cells[axis];
        vec3 held = beyond ? vec3(NO_SLIP >> side & 1) : mirrored_in_solids(next);
        sum += vec3(1 - along) * held;  // the one along the axis ends at what closes it
    }
    return sum;
}
