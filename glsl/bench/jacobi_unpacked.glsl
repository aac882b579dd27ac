// One weighted Jacobi sweep, m^2/s^2, as the bench's baseline has it. Cells, one to a texel.
// The same rule at walls and solids as sim/jacobi.glsl. What stands in solid cells is never used.
#include "lib/box.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s
uniform float weight;

// The pressure of a neighbour; beyond a wall, or in a solid, that of the cell itself, `here`.
float beside(ivec3 neighbour, float here) {
    neighbour = in_box(neighbour);
#if SOLIDS
    if (fetch_openings(neighbour).x < 0.5) return here;
#endif
    return fetch_pressure(neighbour).x;
}

void kernel(ivec3 cell) {
    float here = fetch_pressure(cell).x;
    float sum = beside(cell - X, here) + beside(cell + X, here) + beside(cell - Y, here) + beside(cell + Y, here);
#if DIMENSIONS == 3
    sum += beside(cell - Z, here) + beside(cell + Z, here);
#endif
    float relaxed = (sum - scale * fetch_divergence(cell).x) * (0.5 / float(DIMENSIONS));
    pressure_out = vec4(mix(here, relaxed, weight));
}
