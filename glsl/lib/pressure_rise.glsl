// How much the pressure rises over each low face of a cell, m^2/s^2: cell_size times its gradient there.
#include "lib/box.glsl"

// 0 beyond an open side; what stands beyond a closed one is not seen
float pressure_of(ivec3 cell) {
    ivec3 at = wrapped(cell);
    if (at != in_box(at)) return 0.0;
    return fetch_pressure(ivec3(at.x / 4, at.yz))[at.x % 4];
}

vec3 pressure_rise(ivec3 face) {
    float here = pressure_of(face);
    vec3 rise = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) rise[axis] = here - pressure_of(face - step_along(axis));
    return rise;
}
