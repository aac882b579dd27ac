// The cells of a volume that show anything or lie near such: two triangles for each span of occupied_spans.glsl; or,
// where there are few others, one triangle over all, which is faster for each cell.
#include "lib/cells_corner.glsl"

uniform sampler2D area;      // cells of all spans, see occupied_area_fragment.glsl
uniform float worth;         // cells from which on nothing is left out

void main() {
    int number = gl_VertexID / 6;
    ivec3 strip = ivec3(number % spans_extent.x, number / spans_extent.x % spans_extent.y, number / (spans_extent.x * spans_extent.y));
    vec4 span = fetch_spans(strip);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (texelFetch(area, ivec2(0), 0).x >= worth) {
        if (gl_VertexID < 3) gl_Position.xy = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    } else if (span.x < span.y) gl_Position = cells_corner(span.xy, span.zw, strip.z);
}
