// Normals of the solids, out of them into the fluid. Cells; xyz: unit vector; w: 1 where there is one, else all 0.
// The gradient of the voxels, smoothed across by 1 2 1 (Sobel's operator in three dimensions).
#include "lib/box.glsl"

void kernel(ivec3 cell) {
    vec3 growth = vec3(0.0);
    for (int k = -1; k <= 1; ++k)
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) {
                ivec3 by = ivec3(i, j, k), weight = 2 - abs(by);
                float solid = fetch_solid(neighbour(cell + by)).x;
                growth += solid * vec3(by * weight.yzx * weight.zxy);
            }
#if DIMENSIONS == 2
    growth.z = 0.0;
#endif
    float size = length(growth);
    normals_out = size > 0.5 ? vec4(-growth / size, 1.0) : vec4(0.0);
}
