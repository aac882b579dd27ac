// Largest |velocity| of each component over blocks of BLOCK^3 cells, m/s; what a CFL number is made of.
#include "lib/box.glsl"

void kernel(ivec3 block) {
    vec3 largest = vec3(0.0);
    ivec3 low = BLOCK * block, high = min(low + BLOCK, face_extent);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x)
                largest = max(largest, abs(fetch_velocity(ivec3(x, y, z)).xyz));
    speed_out = vec4(largest, 0.0);
}
