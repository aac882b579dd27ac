// The largest of the speeds of blocks in a slice of blocks, m/s.
#include "lib/box.glsl"

out vec4 most_out;

void main() {
    ivec3 layer = layer_index(ivec2(gl_FragCoord.xy));
    most_out = vec4(0.0);
    if (layer.z < block_extent.z)
        for (int y = 0; y < block_extent.y; ++y)
            for (int x = 0; x < block_extent.x; ++x) most_out = max(most_out, fetch_speed(ivec3(x, y, layer.z)));
}
