// The spans of a few strips one above the other as one: fewer vertices to work out. What lies between the spans is at
// rest, and a pass leaves it so.
#include "lib/quotient.glsl"

// The slice of group `number` of `joined` strips, of `rows` cells each. room: first cell and the one after the last, first row
// and the one after the last; where they hold nothing, none of it.
int joined_strips(int number, ivec3 extent, int joined, int rows, out vec4 room) {
    ivec3 strip = counted(number, ivec3(extent.x, (extent.y + joined - 1) / joined, extent.z));
    strip.y *= joined;
    int end = min(strip.y + joined, extent.y);
    room = vec4(1e6, -1e6, 1e6, -1e6);
    do {
        vec2 span = fetch_strips(strip).zw, here = vec2(strip.y, strip.y + 1) * float(rows);
        if (span.x < span.y) room = vec4(min(room.x, span.x), max(room.y, span.y), min(room.z, here.x), here.y);
    } while (++strip.y < end);
    return strip.z;
}
