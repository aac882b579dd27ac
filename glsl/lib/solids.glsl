// What closes a face. A closed face moves with the solid or the side that closes it: nothing leaks through it.
#include "lib/box.glsl"

// `u` (m/s, one component per low face of `face`) where the faces are open, the solid's velocity elsewhere.
vec3 constrained(ivec3 face, vec3 u) {
#if SOLIDS
    vec4 solid = fetch_solid_faces(face);  // xyz: velocity, m/s; w: bit i is set where face i is closed
    ivec3 closed = (ivec3(int(solid.w)) >> ivec3(0, 1, 2)) & 1;
    return mix(u, solid.xyz, equal(closed, ivec3(1)));
#elif ALL_WALLS
    if (past_cells(face)) return vec3(0.0);
    return mix(u, vec3(0.0), equal(face, ivec3(0)));
#else
    for (int axis = 0; axis < 3; ++axis) {
        if (axis >= DIMENSIONS || past_cells(face - step_along(axis) * (face[axis] / cells[axis]))) u[axis] = 0.0;
        else if (face[axis] == 0 && !periodic[axis] && !open_low[axis]) u[axis] = wall_velocity[2 * axis][axis];
        else if (face[axis] == cells[axis] && !periodic[axis] && !open_high[axis])
            u[axis] = wall_velocity[2 * axis + 1][axis];
    }
    return u;
#endif
}
