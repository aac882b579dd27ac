// A whole light volume in one dispatch: each invocation walks one column through all layers.
#include "render/light_step.glsl"

layout(local_size_x = GROUP, local_size_y = GROUP) in;
layout(r32f, binding = 0) writeonly restrict uniform image2D even_layers;
layout(r32f, binding = 1) writeonly restrict uniform image2D odd_layers;

void main() {
    int layers = light_tiles.w;
    ivec2 first = min(base_light(0), base_light(layers - 1)), column = first + ivec2(gl_GlobalInvocationID.xy);
    float light = 1.0;
    for (int layer = 0; layer < layers; ++layer) {
        ivec2 texel = column - base_light(layer);
        if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, light_tiles.xy))) continue;
        light = after_layer(layer, column, light);
        texel += corner_light(layer);
        if ((layer & 1) == 0) imageStore(even_layers, texel, vec4(light));
        else imageStore(odd_layers, texel, vec4(light));
    }
}
