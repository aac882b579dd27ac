// Divergence of the velocity, 1/s, as the bench's baseline has it. Cells, one to a texel. Solid cells hold 0.
#include "lib/box.glsl"

void kernel(ivec3 cell) {
    vec3 low = fetch_velocity(cell).xyz;
    float flow = fetch_velocity(cell + X).x - low.x + fetch_velocity(cell + Y).y - low.y;
#if DIMENSIONS == 3
    flow += fetch_velocity(cell + Z).z - low.z;
#endif
#if SOLIDS
    flow *= fetch_openings(cell).x;
#endif
    divergence_out = vec4(flow / cell_size);
}
