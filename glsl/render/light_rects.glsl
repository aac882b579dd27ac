// The part of a tile, a band of rows each, in which columns may meet anything, and behind those of all tiles the part in
// which they have done so in tiles before: first column and the one after the last, first row and the one after the
// last; texels.
#include "render/light_tiles.glsl" for light

uniform sampler2D light_reach;   // by group of columns, see light_reach_fragment.glsl
uniform ivec2 light_first;       // the first column
uniform int light_row;           // of the first group
uniform ivec2 group_count;

out vec4 rect_out;

void main() {
    int band = int(gl_FragCoord.x), tile = int(gl_FragCoord.y), tiles = (light_tiles.w + 3) / 4;
    bool behind = tile >= tiles;
    int layer = 4 * (behind ? tile - tiles : tile);  // the first of the tile
    ivec2 off = base_light(layer) - light_first;     // of the tile from the first group
    int low = RECT_ROWS * band, high = min(low + RECT_ROWS, light_tiles.y);
    ivec2 from = ivec2(off.x, off.y + low) / GROUP_SIZE, to = min(ivec2(off.x + light_tiles.x, off.y + high) / GROUP_SIZE, group_count - 1);
    vec4 rect = vec4(1e6, -1e6, 1e6, -1e6);
    for (int y = from.y; y <= to.y; ++y)
        for (int x = from.x; x <= to.x; ++x) {
            vec2 reach = texelFetch(light_reach, ivec2(x, light_row + y), 0).xy;
            reach.x = -reach.x;
            if (reach.x > reach.y || reach.x > float(behind ? layer - 1 : layer + 3) || (!behind && reach.y < float(layer))) continue;
            vec2 texel = vec2(ivec2(x, y) * GROUP_SIZE - off), after = texel + vec2(GROUP_SIZE);
            rect = vec4(min(rect.x, texel.x), max(rect.y, after.x), min(rect.z, texel.y), max(rect.w, after.y));
        }
    rect_out = vec4(max(rect.x, 0.0), min(rect.y, float(light_tiles.x)), max(rect.z, float(low)), min(rect.w, float(high)));
}
