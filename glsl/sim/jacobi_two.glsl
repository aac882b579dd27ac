// Two weighted Jacobi sweeps of the pressure at once, m^2/s^2. Packed: four cells along x.
#include "lib/jacobi_walk.glsl"
