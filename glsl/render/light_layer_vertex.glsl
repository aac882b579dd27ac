// The columns of a layer that have met anything: two triangles for each band of rows.
#include "lib/quad_corner.glsl"

uniform ivec4 light_tiles;       // tile width and height (texels), tiles in a row of the texture, layers
uniform sampler2D light_rects;   // by band and layer, see light_rects.glsl
uniform int layer;

void main() {
    int corner = quad_corner();
    vec4 rect = texelFetch(light_rects, ivec2(gl_VertexID / 6, layer), 0);
    bool some = rect.x < rect.y && rect.z < rect.w;
    vec2 texel = vec2((corner & 1) == 0 ? rect.x : rect.y, corner < 2 ? rect.z : rect.w);
    gl_Position = vec4(some ? 2.0 * texel / vec2(light_tiles.xy) - 1.0 : vec2(2.0), 0.0, 1.0);
}
