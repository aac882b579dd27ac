// One sweep of implicit diffusion of density, temperature and fuel. Cells.
#include "lib/swept_scalars.glsl"

void kernel(ivec3 cell) { diffused_out = swept_scalars(cell, fourier_numbers); }
