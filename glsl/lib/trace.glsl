// Following the flow for `dt` seconds, back (dt > 0) or forth (dt < 0).
#include "lib/component.glsl" for velocity
#include "lib/face_pairs.glsl"
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
    // x on the faces beside it along x and y, y on those and z on those
#if GATHERED
    bvec2 inner = greaterThan(face.xy, ivec2(0));
    ivec3 low = ivec3(max(face.xy - 1, 0), face.z);
    vec4 x = quad_velocity(ivec3(face.x, low.yz), 0), y = quad_velocity(ivec3(low.x, face.yz), 1);
    vec2 xs = inner.y ? x.zw : x.xy, ys = inner.x ? y.yw : y.xz, xs_ym = x.xy, ys_xm = y.xz;
#else
    vec2 xs = along_x(face), ys = along_y(face);
    vec2 xs_ym = along_x(neighbour(face - Y)), ys_xm = along_y(neighbour(face - X));
#endif
    Faces at;
    at.x = vec3(xs.x, 0.25 * (ys.x + ys_xm.x + ys.y + ys_xm.y), 0.0);
    at.y = vec3(0.25 * (xs.x + xs_ym.x + xs.y + xs_ym.y), ys.x, 0.0);
#if DIMENSIONS == 3
#if GATHERED
    vec4 below = quad_velocity(low, 2), above = quad_velocity(low + Z, 2);
    vec2 zs_xm = inner.y ? vec2(below.z, above.z) : vec2(below.x, above.x);
    vec2 zs_ym = inner.x ? vec2(below.y, above.y) : vec2(below.x, above.x);
    vec2 zs = inner.x && inner.y ? vec2(below.w, above.w) : inner.x ? zs_ym : zs_xm;
#else
    vec2 zs = along_z(face), zs_xm = along_z(neighbour(face - X)), zs_ym = along_z(neighbour(face - Y));
#endif
    ivec3 z = neighbour(face - Z);
    vec2 xs_zm = along_x(z), ys_zm = along_y(z);
    at.x.z = 0.25 * (zs.x + zs_xm.x + zs.y + zs_xm.y);
    at.y.z = 0.25 * (zs.x + zs_ym.x + zs.y + zs_ym.y);
    at.z = vec3(0.25 * (xs.x + xs_zm.x + xs.y + xs_zm.y), 0.25 * (ys.x + ys_zm.x + ys.y + ys_zm.y), zs.x);
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
