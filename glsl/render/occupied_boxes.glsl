// The box round all cells of a block of 8^3 that have anything to show, xy, and round those that stop light, zw: its
// lowest and its highest cell, each as x + 8 y + 64 z from the block's low corner; -1 where there is none.
#include "lib/box.glsl"
#include "lib/bits.glsl"

out vec4 box_out;

vec2 box_of(ivec3 bits) {
    if (bits.x == 0) return vec2(-1.0);
    const ivec3 place = ivec3(1, 8, 64);
    ivec3 first = ivec3(lowest_bit(bits.x), lowest_bit(bits.y), lowest_bit(bits.z)) * place;
    ivec3 last = ivec3(highest_bit(bits.x), highest_bit(bits.y), highest_bit(bits.z)) * place;
    return vec2(first.x + first.y + first.z, last.x + last.y + last.z);
}

void main() {
    ivec3 block = boxes_index(ivec2(gl_FragCoord.xy));
    box_out = vec4(-1.0);
    if (block.z >= boxes_extent.z) return;
    ivec3 low = 8 * block, high = min(low + 8, cells), shown = ivec3(0), stopping = ivec3(0);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y) {
            int row = int(fetch_rows(ivec3(block.x, y, z)).x + 0.5), shows = row & 255, stops = row >> 8;
            shown |= ivec3(shows, int(shows != 0) << (y - low.y), int(shows != 0) << (z - low.z));
            stopping |= ivec3(stops, int(stops != 0) << (y - low.y), int(stops != 0) << (z - low.z));
        }
    box_out = vec4(box_of(shown), box_of(stopping));
}
