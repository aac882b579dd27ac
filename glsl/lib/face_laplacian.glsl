// cell_size^2 times the Laplacian of each component of the staggered velocity FIELD, m/s.
// Faces closed by walls and solids hold what closes them and count as any neighbour.
#include "lib/beyond.glsl"

vec3 laplacian_FIELD(ivec3 face) {
    ivec3 last = cells - 1;
    vec3 own = fetch_FIELD(face).xyz;
    vec3 xm = fetch_FIELD(max(face - X, 0)).xyz, xp = fetch_FIELD(face + X).xyz;
    vec3 ym = fetch_FIELD(max(face - Y, 0)).xyz, yp = fetch_FIELD(face + Y).xyz;
    // the component across a low side is not asked for: its face is the wall; across a high side it is stored
    if (face.x == 0) xm = velocity_beyond(0, own);
    if (face.x == last.x) xp.yz = velocity_beyond(1, own).yz;
    if (face.y == 0) ym = velocity_beyond(2, own);
    if (face.y == last.y) yp.xz = velocity_beyond(3, own).xz;
    vec3 sum = (xm - own) + (xp - own) + (ym - own) + (yp - own);
#if DIMENSIONS == 3
    vec3 zm = fetch_FIELD(max(face - Z, 0)).xyz, zp = fetch_FIELD(face + Z).xyz;
    if (face.z == 0) zm = velocity_beyond(4, own);
    if (face.z == last.z) zp.xy = velocity_beyond(5, own).xy;
    sum += (zm - own) + (zp - own);
#endif
    return sum;
}
