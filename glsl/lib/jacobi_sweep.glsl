// A weighted Jacobi sweep of laplacian(pressure) = divergence / dt, m^2/s^2, in four packed cells.
// Where a wall or a solid is the neighbour the cell's own pressure stands for it (zero normal gradient) and
// the sum is still divided by 2d, which also damps the checkerboard that dividing by the count would keep.
#include "lib/pressure_sides.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s

vec4 swept(vec4 p, Neighbours n, vec4 divergence, float weight) {
    vec4 sum = n.xm + n.xp + n.ym + n.yp;
#if DIMENSIONS == 3
    sum += n.zm + n.zp;
#endif
    vec4 relaxed = (sum - scale * divergence) * (0.5 / float(DIMENSIONS));
    return mix(p, relaxed, weight);
}
