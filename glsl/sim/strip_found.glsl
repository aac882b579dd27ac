// The span of each strip that holds anything, xy, and the first of the rows that do and the one after the last, zw.
// Rest is 0 in all three channels. In the slices behind the box: the largest of the speeds of blocks in each slice of blocks, m/s.
#include "lib/box.glsl"
#include "lib/found.glsl"
#include "lib/turns.glsl"

uniform bool everywhere;     // look at all cells, not only at those that `known` says may hold something

out vec4 found_out;

vec4 fastest(int slice) {
    vec4 most = vec4(0.0);
    ivec2 block = ivec2(0);
    do {
        block.x = 0;
        do most = max(most, fetch_speed(ivec3(block, slice))); while (++block.x < turns(block_extent.x));
    } while (++block.y < turns(block_extent.y));
    return most;
}

void main() {
    ivec3 strip = found_index(ivec2(gl_FragCoord.xy));
    found_out = vec4(0.0);
    if (strip.z >= strip_extent.z) {
        int slice = ((strip.z - strip_extent.z) * strip_extent.y + strip.y) * strip_extent.x + strip.x;
        if (slice < block_extent.z) found_out = fastest(slice);
        return;
    }
    ivec2 first = strip.xy * ivec2(STRIP_WIDTH, STRIP_ROWS), last = min(first + ivec2(STRIP_WIDTH, STRIP_ROWS), cells.xy);
    if (!everywhere) {
        vec2 span = fetch_known(strip).zw;
        first.x = max(first.x, int(span.x));
        last.x = min(last.x, int(span.y));
    }
    vec4 found = vec4(NOTHING, NOTHING).xzyw;  // low corner, then high corner
    for (int y = first.y; y < last.y; ++y)
        for (int x = first.x; x < last.x; ++x) {
            bool some = fetch_scalars(ivec3(x, y, strip.z)).xyz != vec3(0.0);
#if COLORED
            some = some || fetch_color(ivec3(x, y, strip.z)).xyz != vec3(0.0);
#endif
            if (some) found = vec4(min(found.xy, vec2(x, y)), max(found.zw, vec2(x, y) + 1.0));
        }
    if (found.x < found.z) found_out = found.xzyw;
}
