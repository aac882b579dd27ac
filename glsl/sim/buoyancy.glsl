// Velocity after `dt` seconds of buoyancy and vorticity confinement, m/s. Faces.
#include "lib/solids.glsl"

uniform float dt;      // s
uniform vec4 rise;     // m/s^2: upward per unit of temperature above ambient; ambient; downward per density; 0
uniform vec3 up;       // unit vector against gravity

float lift(vec4 scalars) { return rise.x * (scalars.y - rise.y * scalars.w) - rise.z * scalars.x; }

void kernel(ivec3 face) {
    ivec3 cell = neighbour(face);
    float here = lift(fetch_scalars(cell));
    vec3 force = vec3(0.0);
#if CONFINEMENT
    vec3 spin = fetch_confinement(cell).xyz;
#endif
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        ivec3 low = neighbour(face - step_along(axis));
        force[axis] = up[axis] * 0.5 * (here + lift(fetch_scalars(low)));
#if CONFINEMENT
        force[axis] += 0.5 * (spin[axis] + fetch_confinement(low)[axis]);
#endif
    }
    velocity_out = vec4(constrained(face, fetch_velocity(face).xyz + dt * force), 0.0);
}
