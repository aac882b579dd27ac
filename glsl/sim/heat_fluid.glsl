// Draws the temperature of fluid beside hot or cold solids to theirs, within `dt` seconds. Cells.
// A cell that shares faces with several takes the mean of their temperatures and rates.
#include "lib/beside_heat.glsl"
#include "lib/lost.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 sum = beside_heat(cell);  // temperature, rate, faces
    if (sum.z > 0.0) here.y = mix(here.y, sum.x / sum.z, float(here.w > 0.5) * lost(sum.y / sum.z * dt));
    scalars_out = here;
}
