// The velocity on a grid with half as many cells along each axis, m/s: what flows through a face of it is what flows
// through the finer ones that it is made of. Faces.
#include "lib/solids.glsl"

void kernel(ivec3 face) {
    ivec3 low = 2 * face, high = min(low + 1, fine_face_extent - 1);  // past the cells there are no faces to add
    vec3 at = fetch_fine_velocity(low).xyz, u;
    vec2 x = fetch_fine_velocity(ivec3(high.x, low.yz)).yz;
    vec2 y = fetch_fine_velocity(ivec3(low.x, high.y, low.z)).xz;
#if DIMENSIONS == 3
    vec2 z = fetch_fine_velocity(ivec3(low.xy, high.z)).xy;
    u.x = 0.25 * (at.x + y.x + z.x + fetch_fine_velocity(ivec3(low.x, high.yz)).x);
    u.y = 0.25 * (at.y + x.x + z.y + fetch_fine_velocity(ivec3(high.x, low.y, high.z)).y);
    u.z = 0.25 * (at.z + x.y + y.y + fetch_fine_velocity(ivec3(high.xy, low.z)).z);
#else
    u = vec3(0.5 * (at.x + y.x), 0.5 * (at.y + x.x), 0.0);
#endif
    velocity_out = vec4(constrained(face, u), 0.0);
}
