// Fire gathered block by block: radiance per metre, summed over the block and times a cell's volume (m^2), and the
// block's mean extinction (1/m); and the middle of that fire (blocks), weighted by luminance.
#include "render/fire.glsl"
#include "render/fire_box.glsl"
#include "render/fade.glsl"
#include "render/edge.glsl"
#if ENDS
#include "render/ends.glsl"
#endif

uniform float extinction;  // 1/m per unit of density

layout(location = 0) out vec4 block_out;
layout(location = 1) out vec4 middle_out;

void main() {
    ivec3 block = blocks_index(ivec2(gl_FragCoord.xy));
    block_out = vec4(0.0);
    middle_out = vec4(vec3(block) + 0.5, 0.0);
    if (any(greaterThanEqual(block, block_count()))) return;
    ivec3 start = block * BLOCK_SIZE - block_lag, low = max(start, 0), high = min(start + BLOCK_SIZE, cells);
    ivec3 size = high - low;
#if ENDS
    vec3 first, last;
    shown_ends(first, last);
    low = max(low, ivec3(first));
    high = min(high, ivec3(last));
#endif
    vec4 middle = vec4(0.0);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x) {
                vec4 here = fetch_scalars(ivec3(x, y, z));
                float burn = 0.0;
#if BURNING
                burn = fetch_flame(ivec3(x, y, z)).x;
#endif
                float there = fade(vec3(x, y, z) + 0.5);
                vec3 fire = there * fire_emission(here.y, burn, here.x) * here.w;
                float density = there * here.x;
                block_out += vec4(fire, density * edged(density));
                middle += dot(fire, LUMINANCE) * vec4(vec3(ivec3(x, y, z) - start) + 0.5, 1.0);
            }
    if (middle.w > 0.0) middle_out.xyz = vec3(block) + middle.xyz / (middle.w * float(BLOCK_SIZE));
    block_out.xyz *= cell_size * cell_size * cell_size;
    block_out.w *= extinction / float(size.x * size.y * size.z);
}
