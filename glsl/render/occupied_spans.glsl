// The cells of a strip of a slice, SPAN blocks long and ROWS blocks high, in which a cell shows anything or lies within
// `margin` of one that does: first cell and the one after the last, first row and the one after the last.
// Behind the last slice: about how many cells show anything, those of all boxes together.
#include "lib/box.glsl"
#include "render/box_cells.glsl"

uniform int margin;

out vec4 span_out;

vec4 span_of(ivec3 strip) {
    ivec2 first = strip.xy * EDGE * ivec2(SPAN, ROWS), last = min(first + EDGE * ivec2(SPAN, ROWS), cells.xy);
    ivec3 from = max(ivec3(first, strip.z) - margin, ivec3(0)) / EDGE;
    ivec3 to = min(ivec3(last - 1, strip.z) + margin, cells - 1) / EDGE;
    vec4 span = vec4(1e6, -1e6, 1e6, -1e6);
    for (int z = from.z; z <= to.z; ++z)
        for (int y = from.y; y <= to.y; ++y)
            for (int x = from.x; x <= to.x; ++x) {
                vec2 held = fetch_boxes(ivec3(x, y, z)).xy;
                if (held.x < 0.0) continue;
                vec3 low, high;
                box_cells(ivec3(x, y, z), held, low, high);
                low -= float(margin);
                high += float(margin);
                if (float(strip.z) < low.z || float(strip.z) >= high.z) continue;
                vec2 a = max(low.xy, vec2(first)), b = min(high.xy, vec2(last));
                if (all(lessThan(a, b))) span = vec4(min(span.x, a.x), max(span.y, b.x), min(span.z, a.y), max(span.w, b.y));
            }
    return span.x < span.y ? span : vec4(0.0);
}

float cells_of_all() {
    float sum = 0.0;
    for (int z = 0; z < boxes_extent.z; ++z)
        for (int y = 0; y < boxes_extent.y; ++y)
            for (int x = 0; x < boxes_extent.x; ++x) {
                vec2 held = fetch_boxes(ivec3(x, y, z)).xy;
                ivec3 size = cell_of(held.y - held.x) + 1;
                sum += held.x < 0.0 ? 0.0 : float(size.x * size.y * size.z);
            }
    return sum;
}

void main() {
    ivec3 strip = spans_index(ivec2(gl_FragCoord.xy));
    span_out = vec4(0.0);
    if (strip.z < cells.z) span_out = span_of(strip);
    else if (strip.z == cells.z) span_out = vec4(cells_of_all());
}
