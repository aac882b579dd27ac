// Velocity less `dt` times the pressure gradient, m/s; closed faces move with what closes them. Faces.
#include "lib/solids.glsl"

uniform float dt;  // s

// beyond an open side, on which it is 0, less that of the cell at it; what stands beyond a closed one is not seen
float pressure_of(ivec3 cell) {
    ivec3 at = wrapped(cell), near = in_box(at);
    float p = fetch_pressure(ivec3(near.x >> 2, near.yz))[near.x & 3];
#if ALL_WALLS
    return p;
#else
    return at == near ? p : -p;
#endif
}

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    float here = pressure_of(face);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        u[axis] -= dt / cell_size * (here - pressure_of(face - step_along(axis)));
    pushed_out = vec4(constrained(face, u), 0.0);
}
