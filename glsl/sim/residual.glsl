// What the pressure leaves of scale * divergence = laplacian(pressure), m^2/s^2 (cells of size 1). Packed: four cells
// along x; 0 in solids.
#include "lib/pressure_operator.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s

void kernel(ivec3 pack) {
    Operator at = pressure_operator(pack, fetch_pressure(pack));
    vec4 left = scale * fetch_divergence(pack) - at.laplacian;
    residual_out = mix(vec4(0.0), left, greaterThan(at.diagonal, vec4(0.0)));
}
