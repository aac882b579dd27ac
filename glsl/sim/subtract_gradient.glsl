// Velocity less `dt` times the pressure gradient, m/s; closed faces move with what closes them. Faces.
#include "lib/solids.glsl"
#include "lib/pressure_rise.glsl"

uniform float dt;  // s

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz - dt / cell_size * pressure_rise(face);
    velocity_out = vec4(constrained(face, u), 0.0);
}
