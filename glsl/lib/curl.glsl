// Curl of the velocity at the centre of a cell, 1/s. Each derivative is the mean of the four edges round the centre;
// beside the box's sides the outer face repeats the inner one.
#include "lib/face_pairs.glsl"

float turning(vec2 right, vec2 left, vec2 above, vec2 below) {
    return right.x + right.y - left.x - left.y - above.x - above.y + below.x + below.y;
}

vec3 curl_at(ivec3 cell) {
    ivec3 xm = neighbour(cell - X), xp = neighbour(cell + X), ym = neighbour(cell - Y), yp = neighbour(cell + Y);
    vec3 omega = vec3(0.0);
    omega.z = turning(along_y(xp), along_y(xm), along_x(yp), along_x(ym));
#if DIMENSIONS == 3
    ivec3 zm = neighbour(cell - Z), zp = neighbour(cell + Z);
    Across low = across_z(cell, ivec3(0)), high = across_z(cell, Z);
    omega.x = turning(vec2(low.yp, high.yp), vec2(low.ym, high.ym), along_y(zp), along_y(zm));
    omega.y = turning(along_x(zp), along_x(zm), vec2(low.xp, high.xp), vec2(low.xm, high.xm));
#endif
    return omega * (0.25 / cell_size);
}
