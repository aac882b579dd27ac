// A flat texture as it lies in memory, one channel in colours: tiles with thin borders between.
#include "render/color_map.glsl"
#include "render/scene_depth.glsl"

uniform sampler2D flat_texture;
uniform vec4 channel;        // 1 in the channel shown
uniform bool four_in_one;         // four neighbours along x in the channels of a texel
uniform vec2 corner, shown_size;   // pixels: low corner and size of what is shown; upside down its high one, and -height
uniform ivec2 tile;          // of one slice, values
uniform ivec2 valid;         // values of a tile that are cells
uniform ivec2 tiles;         // columns, slices
uniform vec2 range;          // low end, 1 / (high - low)

out vec4 color_out;

const vec3 PAPER = vec3(0.055, 0.06, 0.07), BORDER = vec3(0.36, 0.38, 0.42);

void main() {
    vec2 part = (gl_FragCoord.xy - corner) / shown_size;
    if (any(lessThan(part, vec2(0.0))) || any(greaterThanEqual(part, vec2(1.0)))) discard;
    ivec2 size = textureSize(flat_texture, 0) * ivec2(four_in_one ? 4 : 1, 1);
    vec2 place = part * vec2(size);
    ivec2 value_at = ivec2(place), at_tile = value_at / tile, in_tile = value_at - at_tile * tile;
    vec4 texel = texelFetch(flat_texture, four_in_one ? ivec2(value_at.x >> 2, value_at.y) : value_at, 0);
    int lane = value_at.x & 3;
    vec4 mask = four_in_one ? vec4(lane == 0, lane == 1, lane == 2, lane == 3) : channel;
    float share = (dot(texel, mask) - range.x) * range.y;
    vec3 color = mapped_color(clamp(share, 0.0, 1.0));
    if (at_tile.x + at_tile.y * tiles.x >= tiles.y || any(greaterThanEqual(in_tile, valid))) color = PAPER;
    vec2 pixel = vec2(size) / abs(shown_size), from = place - vec2(at_tile * tile);
    vec2 edge = min(from, vec2(tile) - from) / pixel;
    color = mix(color, BORDER, clamp(1.0 - min(edge.x, edge.y), 0.0, 1.0) * clamp(0.12 * float(tile.x) / pixel.x, 0.0, 0.8));
    color_out = painted(color, 1.0);
}
