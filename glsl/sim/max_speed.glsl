// Largest |velocity| of each component over blocks of BLOCK^3 cells, m/s; what a CFL number is made of.
#include "lib/box.glsl"

void kernel(ivec3 block) {
    vec3 largest = vec3(0.0);
    ivec3 last = face_extent - 1;  // beyond it the last ones once more: such loops can be written out, those that end there not
    for (int z = 0; z < BLOCK; ++z)
        for (int y = 0; y < BLOCK; ++y)
            for (int x = 0; x < BLOCK; ++x)
                largest = max(largest, abs(fetch_velocity(min(BLOCK * block + ivec3(x, y, z), last)).xyz));
    speed_out = vec4(largest, 0.0);
}
