// The values of a volume that a pass writes: two triangles round those of a region in each of its slices, or one triangle
// over all.
#include "lib/cells_corner.glsl"
#if PLACED
#include "lib/texel_place.glsl"
#else
vec4 placed(vec4 position) { return position; }
#endif

uniform bool whole;
uniform ivec3 region_low, region_high;  // the first value, and the one after the last along each axis

void main() {
    if (whole) gl_Position = placed(vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0));
    else {
        vec2 low = vec2(region_low.xy), high = vec2(region_high.xy);
        gl_Position = placed(cells_corner(vec2(low.x, high.x), vec2(low.y, high.y), region_low.z + gl_VertexID / 6));
    }
}
