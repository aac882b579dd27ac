// The velocity with every closed face moving with what closes it, m/s. Faces.
#include "lib/solids.glsl"

void kernel(ivec3 face) { velocity_out = vec4(constrained(face, fetch_velocity(face).xyz), 0.0); }
