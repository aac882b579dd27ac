// A whole light volume in one dispatch: each invocation walks one column through all layers.
// REACH: through those between the first and the last that hold anything, and leaves the light behind them as it is.
#include "render/light_step.glsl"

layout(local_size_x = GROUP, local_size_y = GROUP) in;
layout(r32f, binding = 0) writeonly restrict uniform image2D even_layers;
layout(r32f, binding = 1) writeonly restrict uniform image2D odd_layers;
#if REACH
uniform sampler2D light_reach;   // by group of columns, see light_reach_fragment.glsl
#endif

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

// Whether the tile of `layer` holds `column`, at `texel` of it.
bool held(int layer, ivec2 column, out ivec2 texel) {
    texel = column - base_light(layer);
    return all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, light_tiles.xy));
}

void keep(int layer, ivec2 texel, float light) {
    texel += corner_light(layer);
    if ((layer & 1) == 0) imageStore(even_layers, texel, vec4(light));
    else imageStore(odd_layers, texel, vec4(light));
}

void main() {
    int layers = light_tiles.w;
    ivec2 first = min(base_light(0), base_light(layers - 1)), column = first + ivec2(gl_GlobalInvocationID.xy), texel;
    ivec2 span = layers_of(column);
    float light = 1.0;
#if REACH
    vec2 reach = texelFetch(light_reach, ivec2(gl_GlobalInvocationID.xy) / GROUP_SIZE, 0).xy;
    if (-reach.x > reach.y) return;
    ivec2 walked = ivec2(clamp(vec2(-reach.x, reach.y), vec2(-1.0), vec2(layers)));
    span.x = max(span.x, walked.x);
    int last = min(span.y, walked.y);
#else
    int last = span.y;
#endif
    for (int layer = span.x; layer <= last; ++layer) {
        if (!held(layer, column, texel)) continue;
        light = after_layer(layer, column, light);
        keep(layer, texel, light);
    }
#if REACH
    for (int layer = max(span.x, last + 1); layer <= span.y; ++layer)
        if (held(layer, column, texel)) keep(layer, texel, light);
#endif
}
