// Velocity after `dt` seconds of buoyancy, m/s; a face has the mean of two cells. Faces.
#include "lib/solids.glsl"
#include "lib/lift.glsl"

uniform float dt;  // s

void kernel(ivec3 face) {
    float here = lift(neighbour(face));
    vec3 force = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        force[axis] = up[axis] * 0.5 * (here + lift(neighbour(face - step_along(axis))));
    velocity_out = vec4(constrained(face, fetch_velocity(face).xyz + dt * force), 0.0);
}
