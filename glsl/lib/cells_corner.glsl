// One corner of the two triangles over cells of one slice of a flat texture of `target_size` texels; x: first cell and
// the one after the last, y: the same of rows.
#include "lib/quad_corner.glsl"

vec4 cells_corner(vec2 x, vec2 y, int slice) {
    int corner = quad_corner();
    ivec2 texel = cell_texel(ivec3((corner & 1) == 0 ? int(x.x) : int(x.y), corner < 2 ? int(y.x) : int(y.y), slice));
    return vec4(2.0 * vec2(texel) / vec2(target_size) - 1.0, 0.0, 1.0);
}
