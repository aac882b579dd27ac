// Velocity less `dt` times the pressure gradient, m/s; closed faces move with what closes them. Faces.
#include "lib/solids.glsl"

uniform float dt;  // s

float pressure_of(ivec3 cell) { return fetch_pressure(ivec3(cell.x / 4, cell.yz))[cell.x % 4]; }

void kernel(ivec3 face) {
    vec3 u = vec3(0.0);
    if (!past_cells(face)) {
        u = fetch_velocity(face).xyz;
        float here = pressure_of(face);
        for (int axis = 0; axis < DIMENSIONS; ++axis)
            u[axis] -= dt / cell_size * (here - pressure_of(in_box(face - step_along(axis))));
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
