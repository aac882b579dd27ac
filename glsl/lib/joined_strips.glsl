// The spans of a few strips one above the other as one: fewer vertices to work out. What lies between the spans is at
// rest, and a pass leaves it so.
#include "lib/found.glsl"
#include "lib/quotient.glsl"

// The slice of group `number` of `joins` strips, of `size` cells each, and the span that holds theirs.
int joined_strips(int number, ivec3 extent, int joins, ivec2 size, out vec4 span) {
    ivec3 strip = counted(number, ivec3(extent.x, (extent.y + joins - 1) / joins, extent.z));
    strip.y *= joins;
    int end = min(strip.y + joins, extent.y);
    span = NOTHING;
    do span = joined(span, span_between(fetch_strips(strip).zw, size * strip.xy)); while (++strip.y < end);
    return strip.z;
}
