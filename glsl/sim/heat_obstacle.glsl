// Adds what one obstacle heats with. Cells; x: temperature, y: rate (1/s), w: 1 in a solid with a temperature.
#include "lib/inside.glsl"

uniform vec4 heat_given;  // the same of this obstacle; all 0 where it has no temperature

void kernel(ivec3 cell) {
    vec4 place = vec4((vec3(cell) + 0.5) * cell_size, 1.0);
    heat_out = is_inside(cell, place) ? heat_given : fetch_heat(cell);
}
