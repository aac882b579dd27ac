// A cell as a point in the bin of its number; the first bin holds what lies below the range, the last what is above.
#include "lib/finite.glsl"

uniform sampler2D shown;     // x: the number, w: 1 in fluid cells
uniform vec2 range;          // low and high end
uniform int bins;

void main() {
    int width = textureSize(shown, 0).x;
    vec4 here = texelFetch(shown, ivec2(gl_VertexID % width, gl_VertexID / width), 0);
    float share = (here.x - range.x) / (range.y - range.x);
    // the high end belongs to the last bin
    int bin = here.x < range.x ? 0 : here.x > range.y ? bins + 1 : 1 + clamp(int(share * float(bins)), 0, bins - 1);
    bool counts = here.w > 0.5 && is_finite(here.x) && abs(here.x) < 3e38;
    gl_PointSize = 1.0;
    gl_Position = vec4(counts ? (float(bin) + 0.5) / float(bins + 2) * 2.0 - 1.0 : 9.0, 0.0, 0.0, 1.0);
}
