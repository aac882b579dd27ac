// The velocity on faces that lie side by side, m/s. GATHERED: four values of a component are read at once, of which
// those beside a low side of the box lie in another corner.
#include "lib/box.glsl"

// x on `face` and on the next face along x.
vec2 along_x(ivec3 face) {
#if GATHERED
    return quad_velocity(face, 0).xy;
#else
    return vec2(fetch_velocity(face).x, fetch_velocity(face + X).x);
#endif
}

// y on `face` and on the next face along y.
vec2 along_y(ivec3 face) {
#if GATHERED
    return quad_velocity(face, 1).xz;
#else
    return vec2(fetch_velocity(face).y, fetch_velocity(face + Y).y);
#endif
}

#if DIMENSIONS == 3 && !GATHERED
// z on `face` and on the next face along z.
vec2 along_z(ivec3 face) { return vec2(fetch_velocity(face).z, fetch_velocity(face + Z).z); }
#endif

// z on faces across which something changes along x and y: those of the neighbours of a cell, moved by `up`.
struct Across {
    float xm, xp, ym, yp;
};

Across across_z(ivec3 cell, ivec3 up) {
    ivec3 xp = neighbour(cell + X), yp = neighbour(cell + Y);
#if GATHERED
    bvec2 inner = greaterThan(cell.xy, ivec2(0));
    vec4 after = quad_velocity(cell + up, 2);
    vec4 before = quad_velocity(ivec3(max(cell.xy - 1, 0), cell.z) + up, 2);
    return Across(inner.y ? before.z : before.x, xp.x > cell.x ? after.y : after.x,
                  inner.x ? before.y : before.x, yp.y > cell.y ? after.z : after.x);
#else
    return Across(fetch_velocity(neighbour(cell - X) + up).z, fetch_velocity(xp + up).z,
                  fetch_velocity(neighbour(cell - Y) + up).z, fetch_velocity(yp + up).z);
#endif
}
