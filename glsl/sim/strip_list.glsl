// The strips that may hold anything after a stage, one after the other: number n is in the place of strip n. The number
// of the strip, the first cell of its span and the one after the last, 1; 0 past the end.
#include "lib/box.glsl"
#include "lib/quotient.glsl"

out vec4 listed_out;

void main() {
    ivec3 place = strip_index(ivec2(gl_FragCoord.xy));
    listed_out = vec4(0.0);
    if (place.z >= strip_extent.z) return;
    int before = (place.z * strip_extent.y + place.y) * strip_extent.x + place.x, slice = 0, each = strip_extent.x * strip_extent.y;
    for (; slice < strip_extent.z; ++slice) {
        int some = int(fetch_counts(ivec3(0, 0, slice)).x + 0.5);
        if (before < some) break;
        before -= some;
    }
    if (slice == strip_extent.z) return;
    for (int n = 0; n < each; ++n) {
        int row = quotient(n, strip_extent.x);
        vec2 span = fetch_spans(ivec3(n - row * strip_extent.x, row, slice)).zw;
        if (!(span.x < span.y) || before-- > 0) continue;
        listed_out = vec4(slice * each + n, span, 1.0);
        break;
    }
}
