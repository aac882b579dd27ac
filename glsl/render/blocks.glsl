// The most that the smoke in a block of cells, or within a cell of it, sends out or hides, 1/m; each block.
// What is sampled in a block reads no cell further off.
#include "lib/box.glsl"
#include "render/unsoftened.glsl"
#if FIRE
#include "render/fire.glsl"
#endif

out float most_out;

void main() {
    ivec3 block = occupied_index(ivec2(gl_FragCoord.xy));
    most_out = 0.0;
    if (block.z >= occupied_extent.z) return;
    ivec3 low = max(BLOCK * block - 1, ivec3(0)), high = min(BLOCK * block + BLOCK, cells - 1);
    vec4 most = vec4(0.0), hottest = vec4(0.0);
    for (int z = low.z; z <= high.z; ++z)
        for (int y = low.y; y <= high.y; ++y)
            for (int x = low.x; x <= high.x; ++x) {
                most = max(most, fetch_shaded(ivec3(x, y, z)));
#if FIRE
                hottest = max(hottest, fetch_heat(ivec3(x, y, z)));
#if FIRE_SOFT
                hottest = max(hottest, fetch_corners(ivec3(x, y, z)));
#endif
#endif
            }
    most = unsoftened(most);
#if !COLORED
    most.rgb *= most.w;
#endif
#if FIRE
    most.rgb += hottest.y * fire_glow(fire_kelvin.x + hottest.x) + hottest.z * fire_core;  // brighter than anything there
#endif
    most_out = max(max(most.x, most.y), max(most.z, most.w));
}
