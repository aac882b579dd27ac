// The box round all cells of a block of EDGE^3 that have anything to show, xy, and round those that stop light, zw: its
// lowest and its highest cell, each as x + 2^7 y + 2^14 z from the block's low corner; -1 where there is none.
#include "lib/box.glsl"
#include "lib/bits.glsl"

out vec4 box_out;

const ivec3 NONE = ivec3(1 << 20);

// Four rows of eight cells, above each other, as all slices between `from` and `to` have them together: taken into the
// box from `low` to `high`.
void take(ivec4 rows, ivec2 start, int from, int to, inout ivec3 low, inout ivec3 high) {
    if (from > to) return;
    int bits = rows.x | rows.y | rows.z | rows.w, some = 0;
    for (int n = 0; n < 4; ++n) some |= int(rows[n] != 0) << n;
    low = min(low, ivec3(start + ivec2(lowest_bit(bits), lowest_bit(some)), from));
    high = max(high, ivec3(start + ivec2(highest_bit(bits), highest_bit(some)), to));
}

vec2 box_of(ivec3 low, ivec3 high) {
    return low.x > high.x ? vec2(-1.0) : vec2(low.x | low.y << 7 | low.z << 14, high.x | high.y << 7 | high.z << 14);
}

void main() {
    ivec3 block = boxes_index(ivec2(gl_FragCoord.xy));
    box_out = vec4(-1.0);
    if (block.z >= boxes_extent.z) return;
    ivec3 begin = EDGE * block, end = min(begin + EDGE, cells);
    ivec3 shown_low = NONE, shown_high = -NONE, stopping_low = NONE, stopping_high = -NONE;
    for (int y = begin.y; y < end.y; y += 4)
        for (int x = begin.x; x < end.x; x += 8) {
            ivec4 rows = ivec4(0);
            ivec2 from = NONE.xy, to = -NONE.xy;  // slices in which something shows, and in which something stops light
            for (int z = begin.z; z < end.z; ++z) {
                ivec4 here = ivec4(fetch_rows(ivec3(x / 8, y / 4, z)) + 0.5);
                int all = here.x | here.y | here.z | here.w;
                bvec2 none = equal(ivec2(all & 255, all >> 8), ivec2(0));
                ivec2 at = ivec2(z - begin.z);
                rows |= here;
                from = min(from, ivec2(none.x ? NONE.x : at.x, none.y ? NONE.x : at.y));
                to = max(to, ivec2(none.x ? -NONE.x : at.x, none.y ? -NONE.x : at.y));
            }
            take(rows & 255, ivec2(x, y) - begin.xy, from.x, to.x, shown_low, shown_high);
            take(rows >> 8, ivec2(x, y) - begin.xy, from.y, to.y, stopping_low, stopping_high);
        }
    box_out = vec4(box_of(shown_low, shown_high), box_of(stopping_low, stopping_high));
}
