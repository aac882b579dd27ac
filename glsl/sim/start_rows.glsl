// Sums over the fluid cells of each row: the squares of what the pressure takes off, and of what it is to take off.
#include "lib/pressure_operator.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s

void kernel(ivec3 row) {
    vec4 sum = vec4(0.0);
    for (int x = 0; x < packed_extent.x; ++x) {
        ivec3 pack = ivec3(x, row.yz);
        Operator at = pressure_operator(pack, fetch_pressure(pack));
        bvec4 fluid = greaterThan(at.diagonal, vec4(0.0));
        vec4 taken = mix(vec4(0.0), at.laplacian, fluid), asked = mix(vec4(0.0), scale * fetch_divergence(pack), fluid);
        sum += vec4(dot(taken, taken), dot(asked, asked), 0.0, 0.0);
    }
    rows_out = sum;
}
