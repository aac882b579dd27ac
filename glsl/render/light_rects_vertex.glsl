// The columns of each tile that light_rects.glsl says something of: two triangles for each band of rows; or one
// triangle over all tiles, as in spans_vertex.glsl.
#include "lib/nowhere.glsl"
#include "lib/quad_corner.glsl"
#include "render/whole.glsl"

uniform ivec4 light_tiles;       // tile width and height (texels), tiles in a row of the texture, layers
uniform sampler2D light_rects;   // by band and tile
uniform int light_bands;         // bands of rows in a tile
uniform int first_rect;          // the row in it of the first tile
uniform vec2 light_size;         // texels of all tiles

void main() {
    int corner = quad_corner(), number = gl_VertexID / 6, tile = number / light_bands;
    vec4 rect = texelFetch(light_rects, ivec2(number % light_bands, first_rect + tile), 0);
    ivec2 start = ivec2(tile % light_tiles.z, tile / light_tiles.z) * light_tiles.xy;
    vec2 texel = vec2(start) + vec2((corner & 1) == 0 ? rect.x : rect.y, corner < 2 ? rect.z : rect.w);
    bool some = rect.x < rect.y && rect.z < rect.w;
    gl_Position = some ? vec4(2.0 * texel / light_size - 1.0, 0.0, 1.0) : NOWHERE;
    if (whole()) gl_Position = whole_corner();
}
