// The cells of a volume that show anything or lie near such: two triangles for each span of occupied_spans.glsl; or,
// where there are few others, one triangle over all.
#include "lib/cells_corner.glsl"
#include "lib/nowhere.glsl"
#include "render/whole.glsl"
#include "lib/quotient.glsl"

void main() {
    int number = int(uint(gl_VertexID) / 6u);
    ivec3 strip = counted(number, spans_extent);
    vec4 span = fetch_spans(strip);
    gl_Position = span.x < span.y ? cells_corner(span.xy, span.zw, strip.z) : NOWHERE;
    if (whole()) gl_Position = whole_corner();
}
