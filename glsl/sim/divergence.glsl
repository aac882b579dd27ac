// Divergence of the velocity, 1/s. Packed: four cells along x. Solid cells hold 0.
#include "lib/box.glsl"

void kernel(ivec3 pack) {
    vec4 sum = vec4(0.0);
    vec3 low = fetch_velocity(ivec3(4 * pack.x, pack.yz)).xyz;
    for (int lane = 0; lane < 4; ++lane) {
        ivec3 cell = ivec3(min(4 * pack.x + lane, cells.x - 1), pack.yz);
        vec3 high = fetch_velocity(cell + X).xyz;
        float flow = high.x - low.x + fetch_velocity(cell + Y).y - low.y;
#if DIMENSIONS == 3
        flow += fetch_velocity(cell + Z).z - low.z;
#endif
        if (4 * pack.x + lane < cells.x) sum[lane] = flow;
        low = high;
    }
#if SOLIDS
    int open = int(fetch_openings(pack).x);
    sum = mix(sum, vec4(0.0), equal(ivec4(open) >> ivec4(0, 6, 12, 18) & 63, ivec4(0)));
#endif
    divergence_out = sum / cell_size;
}
