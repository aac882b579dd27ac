// Fire gathered block by block: radiance per metre, summed over the block and times a cell's volume (m^2), and the
// block's mean extinction (1/m).
#include "render/fire.glsl"
#include "render/fire_box.glsl"
#if ENDS
#include "render/ends.glsl"
#endif

uniform float extinction;  // 1/m per unit of density

out vec4 block_out;

void main() {
    ivec3 block = blocks_index(ivec2(gl_FragCoord.xy));
    block_out = vec4(0.0);
    if (any(greaterThanEqual(block, block_count()))) return;
    ivec3 start = block * BLOCK_SIZE - block_lag, low = max(start, 0), high = min(start + BLOCK_SIZE, cells);
    ivec3 size = high - low;
#if ENDS
    vec3 first, last;
    shown_ends(first, last);
    low = max(low, ivec3(first));
    high = min(high, ivec3(last));
#endif
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x) {
                vec4 here = fetch_scalars(ivec3(x, y, z));
                float burn = 0.0;
#if BURNING
                burn = fetch_flame(ivec3(x, y, z)).x;
#endif
                block_out += vec4(fire_emission(here.y, burn, here.x) * here.w, here.x);
            }
    block_out.xyz *= cell_size * cell_size * cell_size;
    block_out.w *= extinction / float(size.x * size.y * size.z);
}
