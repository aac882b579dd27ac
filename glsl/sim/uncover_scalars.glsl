// Density, temperature and fuel in cells that a solid has just left: the mean of the fluid beside them. Further ones
// have their turn in the next pass, or, in the last, hold air of the ambient temperature. Cells that a solid has just come
// into hold all of what they held a share of, and -1: see transport_scalars.glsl. Cells; other solids hold 0.
#include "lib/box.glsl"

uniform float ambient;
uniform int ends;  // 1: the last pass

bool is_solid(ivec3 cell) { return fetch_solid(cell).x > 0.5; }

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell), sum = vec4(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        for (int way = -1; way <= 1; way += 2) {
            ivec3 place = neighbour(cell + way * step_along(axis));
            vec4 beside = fetch_scalars(place);
            if (beside.w > 0.5 && !is_solid(place)) sum += vec4(beside.xyz, 1.0);
        }
    if (is_solid(cell)) {
        if (here.w > 0.0) here = vec4(here.xyz / here.w, -1.0);
    } else if (here.w < 0.5) {
        if (sum.w > 0.0) here = vec4(sum.xyz / sum.w, 1.0);
        else if (ends == 1) here = vec4(0.0, ambient, 0.0, 1.0);
    }
    scalars_out = here;
}
