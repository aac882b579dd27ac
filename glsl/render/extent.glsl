// Smallest (x) and largest (y) number of the fluid cells in a row, of the rows in a slice, of all slices; nothing
// that is not finite counts. STAGE: 0, 1, 2. Larger than 3e38 and smaller than -3e38 where there is nothing.
#if STAGE == 0
#include "lib/box.glsl"
#include "lib/finite.glsl"
#else
uniform sampler2D before;       // what the stage before has written
uniform ivec3 before_tile;      // width and height of a tile in it, tiles in a row
uniform int before_count;       // numbers along the line that is taken together
uniform int columns;            // tiles in a row of the texture written; its tiles have one texel a row
#endif
out vec4 extent_out;

const vec2 NOTHING = vec2(3.4e38, -3.4e38);

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec2 extent = NOTHING;
#if STAGE == 0
    ivec3 row = row_index(texel);
    if (row.z < cells.z)
        for (int x = 0; x < cells.x; ++x) {
            vec4 here = fetch_shown(ivec3(x, row.yz));
            if (here.w > 0.5 && is_finite(here.x) && abs(here.x) < 3e38) extent = vec2(min(extent.x, here.x), max(extent.y, here.x));
        }
#else
    int line = texel.x + texel.y * columns;
    for (int n = 0; n < before_count; ++n) {
#if STAGE == 1
        ivec2 at = ivec2(line % before_tile.z, line / before_tile.z) * before_tile.xy + ivec2(0, n);
#else
        ivec2 at = ivec2(n % before_tile.z, n / before_tile.z);
#endif
        vec2 part = texelFetch(before, at, 0).xy;
        extent = vec2(min(extent.x, part.x), max(extent.y, part.y));
    }
#endif
    extent_out = vec4(extent, 0.0, 0.0);
}
