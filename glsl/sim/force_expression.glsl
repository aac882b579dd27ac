// Velocity after `dt` seconds of an acceleration given by a formula, m/s. Faces.
// Given by Python: vec3 user_force(vec3 position, float time), m/s^2.
#include "lib/finite.glsl"
#include "lib/solids.glsl"

uniform float dt;     // s
uniform float time;   // s since the start
uniform vec3 origin;  // low corner of the box, m

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec3 p = origin + face_center(home(face), axis) * cell_size;
        float force = user_force(p, time)[axis];
        if (is_finite(force)) u[axis] += dt * force;
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
