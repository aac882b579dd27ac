// Adds one obstacle to the solids. Cells; xyz: velocity of the solid (m/s), w: 1 inside.
// A cell is solid where its centre is inside. The velocity is (place now - place before) / dt.
#include "lib/inside.glsl"

uniform mat4 motion;       // m from the low corner of the box -> velocity, m/s

void kernel(ivec3 cell) {
    vec4 place = vec4((vec3(cell) + 0.5) * cell_size, 1.0);
    solid_velocity_out = is_inside(cell, place) ? vec4((motion * place).xyz, 1.0) : fetch_solid_velocity(cell);
}
