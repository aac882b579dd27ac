// Half a sweep of successive over-relaxation (Young 1954) of laplacian(pressure) = divergence / dt, m^2/s^2: the cells
// whose x + y + z + colour is even. Packed: four cells along x. Divided by the true number of open neighbours; a cell
// that has none holds 0.
#include "lib/pressure_operator.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s
uniform float omega;   // in (0, 2); 1 is Gauss-Seidel
uniform int colour;

void kernel(ivec3 pack) {
    vec4 p = fetch_pressure(pack);
    Operator at = pressure_operator(pack, p);
    bvec4 fluid = greaterThan(at.diagonal, vec4(0.0));
    // where an odd number of cells closes on itself two of one colour meet: over-relaxed both would overshoot
    const bvec3 odd = bvec3(periodic.x && cells.x % 2 == 1, periodic.y && cells.y % 2 == 1, periodic.z && cells.z % 2 == 1);
    vec4 factor = vec4(omega);
    bvec3 ends = bvec3(false, pack.y == 0 || pack.y == cells.y - 1, pack.z == 0 || pack.z == cells.z - 1);
    if ((odd.y && ends.y) || (odd.z && ends.z)) factor = min(factor, 1.0);
    if (odd.x) {
        ivec4 x = 4 * pack.x + ivec4(0, 1, 2, 3);
        factor = mix(factor, min(factor, 1.0), equal(x, ivec4(0)));
        factor = mix(factor, min(factor, 1.0), equal(x, ivec4(cells.x - 1)));
    }
    vec4 change = factor * (at.laplacian - scale * fetch_divergence(pack)) / mix(vec4(1.0), at.diagonal, fluid);
    bool even = ((pack.y + pack.z + colour) & 1) == 0;
    p += even ? vec4(change.x, 0.0, change.z, 0.0) : vec4(0.0, change.y, 0.0, change.w);
    pressure_out = mix(vec4(0.0), p, fluid);
}
