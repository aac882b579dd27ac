// Draws the temperature of fluid beside hot or cold solids to theirs, within `dt` seconds. Cells.
// A cell that shares faces with several takes the mean of their temperatures and rates.
#include "lib/box.glsl"
#include "lib/lost.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 sum = vec3(0.0);  // temperature, rate, faces
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec4 low = fetch_marks(neighbour(cell - step_along(axis))), high = fetch_marks(neighbour(cell + step_along(axis)));
        sum += low.xyw + high.xyw;
    }
    if (sum.z > 0.0) here.y = mix(here.y, sum.x / sum.z, float(here.w > 0.5) * lost(sum.y / sum.z * dt));
    scalars_out = here;
}
