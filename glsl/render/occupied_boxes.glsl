// The box round all cells of a block of EDGE^3 that have anything to show, xy, and round those that stop light, zw: its
// lowest and its highest cell, each as x + EDGE y + EDGE^2 z from the block's low corner; -1 where there is none.
#include "lib/box.glsl"
#include "lib/bits.glsl"

out vec4 box_out;

const ivec3 NONE = ivec3(1 << 20);

// The cells in a row of eight, `bits`, from `start` on: taken into the box from `low` to `high`.
void take(int bits, ivec3 start, inout ivec3 low, inout ivec3 high) {
    low = min(low, bits == 0 ? NONE : ivec3(start.x + lowest_bit(bits), start.yz));
    high = max(high, bits == 0 ? -NONE : ivec3(start.x + highest_bit(bits), start.yz));
}

vec2 box_of(ivec3 low, ivec3 high) {
    const ivec3 place = ivec3(1, EDGE, EDGE * EDGE);
    ivec3 first = low * place, last = high * place;
    return low.x > high.x ? vec2(-1.0) : vec2(first.x + first.y + first.z, last.x + last.y + last.z);
}

void main() {
    ivec3 block = boxes_index(ivec2(gl_FragCoord.xy));
    box_out = vec4(-1.0);
    if (block.z >= boxes_extent.z) return;
    ivec3 begin = EDGE * block, end = min(begin + EDGE, cells);
    ivec3 shown_low = NONE, shown_high = -NONE, stopping_low = NONE, stopping_high = -NONE;
    for (int x = begin.x; x < end.x; x += 8) {
        // the rows of eight beside each other as one; where they lie, from first to last
        int shown = 0, stopping = 0;
        ivec2 shown_from = NONE.xy, shown_to = -NONE.xy, stopping_from = NONE.xy, stopping_to = -NONE.xy;
        for (int z = begin.z; z < end.z; ++z)
            for (int y = begin.y; y < end.y; ++y) {
                int row = int(fetch_rows(ivec3(x / 8, y, z)).x + 0.5), shows = row & 255, stops = row >> 8;
                ivec2 at = ivec2(y, z) - begin.yz;
                shown |= shows;
                shown_from = min(shown_from, shows == 0 ? NONE.xy : at);
                shown_to = max(shown_to, shows == 0 ? -NONE.xy : at);
                stopping |= stops;
                stopping_from = min(stopping_from, stops == 0 ? NONE.xy : at);
                stopping_to = max(stopping_to, stops == 0 ? -NONE.xy : at);
            }
        take(shown, ivec3(x - begin.x, shown_from), shown_low, shown_high);
        take(shown, ivec3(x - begin.x, shown_to), shown_low, shown_high);
        take(stopping, ivec3(x - begin.x, stopping_from), stopping_low, stopping_high);
        take(stopping, ivec3(x - begin.x, stopping_to), stopping_low, stopping_high);
    }
    box_out = vec4(box_of(shown_low, shown_high), box_of(stopping_low, stopping_high));
}
