// One weighted Jacobi sweep of laplacian(pressure) = divergence / dt, m^2/s^2. Packed: four cells along x.
// Where a wall or a solid is the neighbour the cell's own pressure stands for it (zero normal gradient) and
// the sum is still divided by 2d, which also damps the checkerboard that dividing by the count would keep.
#include "lib/pressure_neighbours.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s
uniform float weight;

void kernel(ivec3 pack) {
    vec4 p = fetch_pressure(pack);
    Neighbours n = neighbours_of(pack, p);
    vec4 sum = n.xm + n.xp + n.ym + n.yp;
#if DIMENSIONS == 3
    sum += n.zm + n.zp;
#endif
    vec4 relaxed = (sum - scale * fetch_divergence(pack)) * (0.5 / float(DIMENSIONS));
    pressure_out = mix(p, relaxed, weight);
}
