// The largest of the speeds of blocks in a slice of blocks, m/s.
#include "lib/box.glsl"
#include "lib/turns.glsl"

out vec4 most_out;

void main() {
    ivec3 layer = layer_index(ivec2(gl_FragCoord.xy));
    most_out = vec4(0.0);
    if (layer.z >= block_extent.z) return;
    ivec2 block = ivec2(0);
    do {
        block.x = 0;
        do most_out = max(most_out, fetch_speed(ivec3(block, layer.z))); while (++block.x < turns(block_extent.x));
    } while (++block.y < turns(block_extent.y));
}
