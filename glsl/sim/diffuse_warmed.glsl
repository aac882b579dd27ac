// The same sweep where solids have a temperature. Cells.
// Beside them T' = rate (T_solid - T) + loss: of what a cell loses in `dt` seconds there is (1 - exp(-x)) / x missing
// at the end, x = rate * dt, for the solid makes good the rest meanwhile. The T_solid of it is heat_fluid's.
#include "lib/swept_scalars.glsl"
#include "lib/beside_heat.glsl"
#include "lib/lost.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec3 numbers = fourier_numbers;
    float x = beside_heat(cell).y * dt;
    if (x > 0.0) numbers.y *= lost(x) / x;
    diffused_out = swept_scalars(cell, numbers);
}
