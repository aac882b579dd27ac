// Velocity after `dt` seconds of an acceleration given for every cell, m/s; a face has the mean of two. Faces.
#include "lib/solids.glsl"

uniform float dt;  // s, times the field's strength

void kernel(ivec3 face) {
    ivec3 cell = neighbour(face);
    vec3 force = fetch_force(cell).xyz;
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        force[axis] = 0.5 * (force[axis] + fetch_force(neighbour(face - step_along(axis)))[axis]);
    velocity_out = vec4(constrained(face, fetch_velocity(face).xyz + dt * force), 0.0);
}
