// What closes a face. A closed face moves with the solid that closes it: nothing leaks through it.
#include "lib/box.glsl"

// `u` (m/s, one component per low face of `face`) where the faces are open, the solid's velocity elsewhere.
vec3 constrained(ivec3 face, vec3 u) {
#if SOLIDS
    vec4 solid = fetch_solid_faces(face);  // xyz: velocity, m/s; w: bit i is set where face i is closed
    ivec3 closed = (ivec3(int(solid.w)) >> ivec3(0, 1, 2)) & 1;
    return mix(u, solid.xyz, equal(closed, ivec3(1)));
#else
    if (past_cells(face)) return vec3(0.0);
    return mix(u, vec3(0.0), equal(face, ivec3(0)));
#endif
}
