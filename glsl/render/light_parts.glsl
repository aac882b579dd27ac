// Each tile of a light volume by itself: what its layers leave of all light (0 .. 1), one texel a column.
#include "render/light_step.glsl"

layout(location = 0) out vec4 parts_out;
layout(location = 1) out float last_out;  // what the last of the four leaves

void main() {
    int first;
    ivec2 column = column_at(ivec2(gl_FragCoord.xy), first);
    parts_out = after_layers(first, reach_of(column), walked_column(column));
    last_out = parts_out.w;
}
