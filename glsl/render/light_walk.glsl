// A whole light volume in one dispatch: each invocation walks one column through all layers.
#include "render/light_step.glsl"

layout(local_size_x = GROUP, local_size_y = GROUP) in;
layout(r32f, binding = 0) writeonly restrict uniform image2D even_layers;
layout(r32f, binding = 1) writeonly restrict uniform image2D odd_layers;

// The first and the last layer whose tile can hold `column`, give or take one. A box one cell deep has many
// columns, each of which crosses few of its layers.
ivec2 layers_of(ivec2 column) {
    ivec2 span = ivec2(0, light_tiles.w - 1);
    for (int a = 0; a < 2; ++a) {
        if (light_shear[a] == 0) continue;
        vec2 depth = vec2(-2.5, float(light_tiles[a]) - 1.5) + start_light()[a] - float(column[a]);  // shear * (layer + 1)
        depth *= 65536.0 / float(light_shear[a]);
        // not beyond the box, where a small shear would take them past what a whole number holds
        ivec2 reach = ivec2(clamp(vec2(min(depth.x, depth.y), max(depth.x, depth.y)), -2.0, float(light_tiles.w) + 2.0));
        span = ivec2(max(span.x, reach.x - 2), min(span.y, reach.y));
    }
    return span;
}

void main() {
    int layers = light_tiles.w;
    ivec2 first = min(base_light(0), base_light(layers - 1)), column = first + ivec2(gl_GlobalInvocationID.xy);
    ivec2 span = layers_of(column);
    float light = 1.0;
    for (int layer = span.x; layer <= span.y; ++layer) {
        ivec2 texel = column - base_light(layer);
        if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, light_tiles.xy))) continue;
        light = after_layer(layer, column, light);
        texel += corner_light(layer);
        if ((layer & 1) == 0) imageStore(even_layers, texel, vec4(light));
        else imageStore(odd_layers, texel, vec4(light));
    }
}
