// Adds the velocity of a mesh whose vertices move to the solid it makes. Cells; as in add_obstacle.
#include "lib/inside.glsl"

uniform vec3 mean_drift;  // m/s, where no surface is near: deep inside, no face of the fluid sees it

void kernel(ivec3 cell) {
    vec4 place = vec4((vec3(cell) + 0.5) * cell_size, 1.0), solid = fetch_solid_velocity(cell), drift = fetch_drift(cell);
    if (is_inside(cell, place)) solid.xyz += drift.w > 0.5 ? drift.xyz : mean_drift;
    solid_velocity_out = solid;
}
