// What all tiles before a tile leave of the light of a column; blending multiplies the tile's own parts by it.
#include "render/light_step.glsl"

uniform sampler2D lasts;       // what each tile by itself leaves at its end

out vec4 carried_out;

void main() {
    int first;
    ivec2 column = column_at(ivec2(gl_FragCoord.xy), first), walked = reach_of(column), texel;
    vec2 ends = clamp(inside(vec2(column) + 0.5 - start_light()), vec2(0.0, -1.0), vec2(light_tiles.w));
    int last = min(min(walked.y, int(ends.y)), first - 1);
    float light = 1.0;
    for (int layer = max(walked.x, int(ends.x)) & ~3; layer <= last; layer += 4)
        if (held(layer, column, texel)) light *= texelFetch(lasts, corner_light(layer) + texel, 0).x;
    carried_out = vec4(light);
}
