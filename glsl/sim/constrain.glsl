// The velocity with every closed face moving with what closes it, and the high side of a
// periodic box the same as its low side, m/s. Faces.
#include "lib/solids.glsl"

void kernel(ivec3 face) { velocity_out = vec4(constrained(face, fetch_velocity(home(face)).xyz), 0.0); }
