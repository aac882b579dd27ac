// `own` times the velocity and `factor` times another, m/s; closed faces move with what closes them. Faces.
#include "lib/solids.glsl"

uniform float own;
uniform float factor;

void kernel(ivec3 face) {
    vec3 u = own * fetch_velocity(face).xyz + factor * fetch_other(face).xyz;
    combined_out = vec4(constrained(face, u), 0.0);
}
