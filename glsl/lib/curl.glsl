// Curl of the velocity at the centre of a cell, 1/s. Each derivative is the mean of the four edges round the centre;
// beside the box's sides the outer face repeats the inner one.
#include "lib/box.glsl"

vec3 curl_at(ivec3 cell) {
    ivec3 xm = neighbour(cell - X), xp = neighbour(cell + X), ym = neighbour(cell - Y), yp = neighbour(cell + Y);
    vec3 omega = vec3(0.0);
    omega.z = fetch_velocity(xp).y + fetch_velocity(xp + Y).y - fetch_velocity(xm).y - fetch_velocity(xm + Y).y
            - fetch_velocity(yp).x - fetch_velocity(yp + X).x + fetch_velocity(ym).x + fetch_velocity(ym + X).x;
#if DIMENSIONS == 3
    ivec3 zm = neighbour(cell - Z), zp = neighbour(cell + Z);
    omega.x = fetch_velocity(yp).z + fetch_velocity(yp + Z).z - fetch_velocity(ym).z - fetch_velocity(ym + Z).z
            - fetch_velocity(zp).y - fetch_velocity(zp + Y).y + fetch_velocity(zm).y + fetch_velocity(zm + Y).y;
    omega.y = fetch_velocity(zp).x + fetch_velocity(zp + X).x - fetch_velocity(zm).x - fetch_velocity(zm + X).x
            - fetch_velocity(xp).z - fetch_velocity(xp + Z).z + fetch_velocity(xm).z + fetch_velocity(xm + Z).z;
#endif
    return omega * (0.25 / cell_size);
}
