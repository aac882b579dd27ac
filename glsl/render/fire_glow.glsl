// Light of the fire that arrives in a place, as the mean radiance over all directions: the blocks of fire as
// lights in one place each, weakened by the smoke at both ends. Cells of half a block.
#include "lib/box.glsl"

uniform float glow_strength;

out vec4 glow_out;

void main() {
    ivec3 index = glow_index(ivec2(gl_FragCoord.xy));
    glow_out = vec4(0.0);
    if (index.z >= glow_extent.z) return;
    const float size = float(BLOCK_SIZE) * cell_size;  // m
    ivec3 home = min(index / 2, blocks_extent - 1);
    float own = fetch_blocks(home).w;
    vec3 place = (vec3(index) + 0.5) * 0.5;  // blocks
    for (int z = 0; z < blocks_extent.z; ++z)
        for (int y = 0; y < blocks_extent.y; ++y)
            for (int x = 0; x < blocks_extent.x; ++x) {
                vec4 block = fetch_blocks(ivec3(x, y, z));
                if (block.x + block.y + block.z <= 0.0) continue;
                vec3 way = (vec3(x, y, z) + 0.5 - place) * size;
                float distance2 = dot(way, way);  // never near 0: no cell of half a block has its centre in common
                float thick = 0.5 * (own + block.w) * sqrt(distance2);
                glow_out.xyz += block.xyz * (glow_strength * exp(-thick) / (12.566371 * distance2));
            }
}
