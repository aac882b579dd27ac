// Curl of the velocity at the centre of a cell, 1/s. Each derivative is the mean of the four edges round the centre,
// of those inside the box: a wall's own layer is thinner than a cell and none of the flow's vorticity.
#include "lib/face_pairs.glsl"
#include "lib/turning.glsl"

vec3 curl_at(ivec3 cell) {
    ivec3 xm = neighbour(cell - X), xp = neighbour(cell + X), ym = neighbour(cell - Y), yp = neighbour(cell + Y);
    vec3 omega = vec3(0.0), over = reach_over(cell);
    omega.z = turning(along_y(xp), along_y(xm), along_x(yp), along_x(ym), over.x, over.y);
#if DIMENSIONS == 3
    ivec3 zm = neighbour(cell - Z), zp = neighbour(cell + Z);
    Across low = across_z(cell, ivec3(0)), high = across_z(cell, Z);
    omega.x = turning(vec2(low.yp, high.yp), vec2(low.ym, high.ym), along_y(zp), along_y(zm), over.y, over.z);
    omega.y = turning(along_x(zp), along_x(zm), vec2(low.xp, high.xp), vec2(low.xm, high.xm), over.z, over.x);
#endif
    return omega * (0.25 / cell_size);
}
