// The cells of a volume that show anything or lie near such: two triangles for each span of occupied_spans.glsl; or,
// where there are few others, one triangle over all.
#include "lib/cells_corner.glsl"
#include "render/whole.glsl"

void main() {
    int number = gl_VertexID / 6;
    ivec3 strip = ivec3(number % spans_extent.x, number / spans_extent.x % spans_extent.y, number / (spans_extent.x * spans_extent.y));
    vec4 span = fetch_spans(strip);
    gl_Position = span.x < span.y ? cells_corner(span.xy, span.zw, strip.z) : vec4(2.0, 2.0, 0.0, 1.0);
    if (whole()) gl_Position = whole_corner();
}
