// What the pressure leaves of scale * divergence = laplacian(pressure), m^2/s^2 (cells of size 1), in four packed
// cells along x; 0 in solids and past the row.
#include "lib/pressure_operator.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s

vec4 pressure_left(ivec3 pack) {
    Operator at = pressure_operator(pack, fetch_pressure(pack));
    return mix(vec4(0.0), scale * fetch_divergence(pack) - at.laplacian, greaterThan(at.diagonal, vec4(0.0)));
}
