// A stack of slabs: in each band of the picture the rectangle that holds all that is to be seen of it there, or one
// rectangle for all bands.
#include "lib/nowhere.glsl"
#include "lib/quad_corner.glsl"
#include "render/slab_corner.glsl"

uniform sampler2D extents;  // by stack and band: the opposite of the left end, and the right end, -1 .. 1
uniform sampler2D wholes;   // by stack: the same of all bands, and the first and last of them; see extents_whole.glsl
uniform float band;         // height of a band, of the picture's 2

void main() {
    int row = gl_VertexID / 6, corner = quad_corner(), column = stack_number();
    vec4 whole = texelFetch(wholes, ivec2(column, 0), 0);
    vec2 ends = texelFetch(extents, ivec2(column, row), 0).xy;
    bool one = whole.z <= whole.w;
    if (one) ends = row == 0 ? whole.xy : vec2(-2.0);
    vec2 rows = one ? vec2(whole.z, whole.w + 1.0) : vec2(row, row + 1);
    vec2 low = max(bounds.xy, vec2(-ends.x, rows.x * band - 1.0));
    vec2 high = min(bounds.zw, vec2(ends.y, rows.y * band - 1.0));
    bool some = all(lessThan(low, high));
    vec2 p = mix(low, high, vec2(corner & 1, corner >> 1));
    hand_on(p);
    gl_Position = some ? vec4(p, 0.0, 1.0) : NOWHERE;
}
