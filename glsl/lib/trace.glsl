// Following the flow for `dt` seconds, back (dt > 0) or forth (dt < 0).
#include "lib/component.glsl" for velocity
#include "lib/clipped.glsl"
#include "lib/turns.glsl"

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

// Something at the centres of the low x, y and z faces of a cell.
struct Faces {
    vec3 x, y, z;
};

// The whole velocity there, m/s: own component and the mean of the four nearest faces for the others. Past the cells
// lies at most one face that air crosses, on an open side: all three are then the velocity on that one.
Faces face_velocities(ivec3 face) {
    if (any(open_high) && past_cells(face)) {
        vec3 u = at_velocity(face_center(face, face.x == cells.x ? 0 : face.y == cells.y ? 1 : 2));
        return Faces(u, u, u);
    }
    ivec3 x = neighbour(face - X), y = neighbour(face - Y);
    vec3 u = fetch_velocity(face).xyz, ux = fetch_velocity(x).xyz, uy = fetch_velocity(y).xyz;
    float xp = fetch_velocity(face + X).x, yp = fetch_velocity(face + Y).y;
    Faces at;
    at.x = vec3(u.x, 0.25 * (u.y + ux.y + yp + fetch_velocity(x + Y).y), 0.0);
    at.y = vec3(0.25 * (u.x + uy.x + xp + fetch_velocity(y + X).x), u.y, 0.0);
#if DIMENSIONS == 3
    ivec3 z = neighbour(face - Z);
    vec3 uz = fetch_velocity(z).xyz;
    float zp = fetch_velocity(face + Z).z;
    at.x.z = 0.25 * (u.z + ux.z + zp + fetch_velocity(x + Z).z);
    at.y.z = 0.25 * (u.z + uy.z + zp + fetch_velocity(y + Z).z);
    at.z = vec3(0.25 * (u.x + uz.x + xp + fetch_velocity(z + X).x),
                0.25 * (u.y + uz.y + yp + fetch_velocity(z + Y).y), u.z);
#endif
    return at;
}

// Where what is on the faces, with these velocities (m/s), was `dt` seconds ago: `trace` of each.
Faces trace_faces(ivec3 face, Faces at, float dt) {
#if TRACE_RK2
    int axis = 0;
    do {  // each in turn is the first, and then the last: there is much in it
        vec3 from = trace(face_center(face, axis), at.x, dt);
#if DIMENSIONS == 3
        at = Faces(at.y, at.z, from);
#else
        at = Faces(at.y, from, from);
#endif
    } while (++axis < turns(DIMENSIONS));
#else
    at.x = trace(face_center(face, 0), at.x, dt);
    at.y = trace(face_center(face, 1), at.y, dt);
#if DIMENSIONS == 3
    at.z = trace(face_center(face, 2), at.z, dt);
#endif
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
