// Draws the temperature of fluid beside hot or cold solids to theirs, within `dt` seconds. Cells.
// A cell that shares faces with several takes the mean of their temperatures.
#include "lib/beside_heat.glsl"
#include "lib/lost.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 heat = beside_heat(cell);  // temperature, rate, faces
    if (heat.z > 0.0) here.y = mix(here.y, heat.x, float(here.w > 0.5) * lost(heat.y * dt));
    scalars_out = here;
}
