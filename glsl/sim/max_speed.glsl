// Largest |velocity| of each component over blocks of BLOCK^3 cells, m/s; what a CFL number is made of.
#include "lib/turns.glsl"

void kernel(ivec3 block) {
    vec3 largest = vec3(0.0);
    ivec3 last = face_extent - 1;  // beyond it the last ones once more: such loops can be written out, those that end there not
    int row = 0;
    do {
        for (int x = 0; x < BLOCK; ++x)
            largest = max(largest, abs(fetch_velocity(min(BLOCK * block + ivec3(x, row % BLOCK, row / BLOCK), last)).xyz));
    } while (++row < turns(BLOCK * BLOCK));
    speed_out = vec4(largest, 0.0);
}
