// Velocity less `dt` times the pressure gradient, m/s, as the bench's baseline has it. Faces.
#include "lib/solids.glsl"

uniform float dt;  // s

void kernel(ivec3 face) {
    vec3 u = vec3(0.0);
    if (!past_cells(face)) {
        u = fetch_velocity(face).xyz;
        float here = fetch_pressure(face).x;
        for (int axis = 0; axis < DIMENSIONS; ++axis)
            u[axis] -= dt / cell_size * (here - fetch_pressure(in_box(face - step_along(axis))).x);
    }
    pushed_out = vec4(constrained(face, u), 0.0);
}
