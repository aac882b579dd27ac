// Half a sweep of successive over-relaxation of laplacian(pressure) = divergence / dt, m^2/s^2: the cells of one
// colour. Packed: four cells along x. Divided by the true number of open neighbours, an open side being two; a cell
// that has none holds 0.
#include "lib/pressure_operator.glsl"
#include "lib/overshoot.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s
uniform int colour;

void kernel(ivec3 pack) {
    vec4 p = fetch_pressure(pack);
    Operator at = pressure_operator(pack, p);
    bvec4 fluid = greaterThan(at.diagonal, vec4(0.0));
    vec4 change = (at.laplacian - scale * fetch_divergence(pack)) / mix(vec4(1.0), at.diagonal, fluid);
    p += coloured(pack, colour, overshoot(pack) * change);
    pressure_out = mix(vec4(0.0), p, fluid);
}
