// Sums over the fluid cells of each row: a * b, a * a, a, and the number of cells.
#include "lib/fluid_lanes.glsl"

void kernel(ivec3 row) {
    vec4 sum = vec4(0.0);
    for (int x = 0; x < packed_extent.x; ++x) {
        ivec3 pack = ivec3(x, row.yz);
        vec4 fluid = fluid_lanes(pack);
        vec4 a = mix(vec4(0.0), fetch_a(pack), greaterThan(fluid, vec4(0.0)));
        sum += vec4(dot(a, fetch_b(pack)), dot(a, a), dot(a, vec4(1.0)), dot(fluid, vec4(1.0)));
    }
    rows_out = sum;
}
