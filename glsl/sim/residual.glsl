// What the pressure leaves of its equation, m^2/s^2. Packed: four cells along x.
#include "lib/pressure_left.glsl"

void kernel(ivec3 pack) { residual_out = pressure_left(pack); }
