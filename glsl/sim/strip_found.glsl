// The span of each strip that holds anything, xy, and the first of the rows that do and the one after the last, zw.
// Rest is 0 in all three channels.
#include "lib/box.glsl"
#include "lib/found.glsl"

uniform bool everywhere;     // look at all cells, not only at those that `known` says may hold something

out vec4 found_out;

void main() {
    ivec3 strip = strip_index(ivec2(gl_FragCoord.xy));
    found_out = vec4(0.0);
    if (strip.z >= strip_extent.z) return;
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
