// Sums over the fluid cells of each row: 0, 0, the values of both colours, and the number of cells.
#include "lib/half_open.glsl"

void kernel(ivec3 row) {
    for (int x = 0; x < half_extent.x; ++x) {
        ivec3 pack = ivec3(x, row.yz);
        int parity = parity_of(pack, 0);
        vec4 red = vec4(greaterThan(open_count(pack, parity), vec4(0.0)));
        vec4 black = vec4(greaterThan(open_count(pack, 1 - parity), vec4(0.0)));
        rows_out.z += dot(red, fetch_red(pack)) + dot(black, fetch_black(pack));
        rows_out.w += dot(red + black, vec4(1.0));
    }
}
