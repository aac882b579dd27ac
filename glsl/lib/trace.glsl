// Following the flow for `dt` seconds, back (dt > 0) or forth (dt < 0).
#include "lib/component.glsl" for velocity
#include "lib/clipped.glsl"

// Where what is at `start` (cells) with velocity `u` (m/s) was `dt` seconds ago; never in a solid, but perhaps beyond a
// side, where a sample takes the nearest value.
// Euler, or the midpoint rule of second order.
vec3 trace(vec3 start, vec3 u, float dt) {
    float reach = dt / cell_size;
#if TRACE_RK2
    u = at_velocity(start - 0.5 * reach * u);
#endif
    return clipped(start, start - reach * u);
}

struct FaceVelocities {
    vec3 x, y, z;  // the whole velocity at the centres of the low x, y and z faces of a cell, m/s
};

// Own component and the mean of the four nearest faces for the others.
FaceVelocities face_velocities(ivec3 cell) {
    ivec3 x = neighbour(cell - X), y = neighbour(cell - Y);
    vec3 u = fetch_velocity(cell).xyz, ux = fetch_velocity(x).xyz, uy = fetch_velocity(y).xyz;
    float xp = fetch_velocity(cell + X).x, yp = fetch_velocity(cell + Y).y;
    FaceVelocities at;
    at.x = vec3(u.x, 0.25 * (u.y + ux.y + yp + fetch_velocity(x + Y).y), 0.0);
    at.y = vec3(0.25 * (u.x + uy.x + xp + fetch_velocity(y + X).x), u.y, 0.0);
#if DIMENSIONS == 3
    ivec3 z = neighbour(cell - Z);
    vec3 uz = fetch_velocity(z).xyz;
    float zp = fetch_velocity(cell + Z).z;
    at.x.z = 0.25 * (u.z + ux.z + zp + fetch_velocity(x + Z).z);
    at.y.z = 0.25 * (u.z + uy.z + zp + fetch_velocity(y + Z).z);
    at.z = vec3(0.25 * (u.x + uz.x + xp + fetch_velocity(z + X).x),
                0.25 * (u.y + uz.y + yp + fetch_velocity(z + Y).y), u.z);
#endif
    return at;
}

// The velocity at the centre of a cell, m/s.
vec3 center_velocity(ivec3 cell) {
    vec3 low = fetch_velocity(cell).xyz;
    vec3 high = vec3(fetch_velocity(cell + X).x, fetch_velocity(cell + Y).y, low.z);
#if DIMENSIONS == 3
    high.z = fetch_velocity(cell + Z).z;
#endif
    return 0.5 * (low + high);
}
