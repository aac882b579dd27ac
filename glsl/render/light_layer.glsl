// The next layer of a light volume: the share of light left at its end (0 .. 1), one texel a column.
#include "render/light_step.glsl"

uniform int layer;
uniform sampler2D previous;    // the texture with the layer before

out vec4 light_out;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy) - corner_light(layer);
    ivec2 column = texel + base_light(layer), before = column - base_light(layer - 1);
    float light = 1.0;  // a column that only now comes near the box
    if (layer > 0 && all(greaterThanEqual(before, ivec2(0))) && all(lessThan(before, light_tiles.xy)))
        light = texelFetch(previous, corner_light(layer - 1) + before, 0).x;
    light_out = vec4(after_layer(layer, column, light));
}
