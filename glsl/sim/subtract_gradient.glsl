// Velocity less `dt` times the pressure gradient, m/s; closed faces move with what closes them. Faces.
#include "lib/solids.glsl"

uniform float dt;  // s

// 0 beyond an open side; what stands beyond a closed one is not seen
float pressure_of(ivec3 cell) {
    ivec3 at = wrapped(cell);
    if (at != in_box(at)) return 0.0;
    return fetch_pressure(ivec3(at.x / 4, at.yz))[at.x % 4];
}

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    float here = pressure_of(face);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        u[axis] -= dt / cell_size * (here - pressure_of(face - step_along(axis)));
    pushed_out = vec4(constrained(face, u), 0.0);
}
