// Adds what one obstacle heats with, and whether fluid glides along it. Cells; x: temperature, y: rate (1/s),
// z: 1 in a free-slip solid, w: 1 in a solid with a temperature.
#include "lib/inside.glsl"

uniform vec4 mark;  // the same of this obstacle

void kernel(ivec3 cell) {
    vec4 place = vec4((vec3(cell) + 0.5) * cell_size, 1.0);
    marks_out = is_inside(cell, place) ? mark : fetch_marks(cell);
}
