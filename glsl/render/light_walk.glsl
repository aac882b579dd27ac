// A whole light volume in one dispatch: each invocation walks one column through all layers.
// REACH: through those between the first and the last that hold anything. Behind them it leaves the light as it is, and
// where the walk before had dimmed it, and this one does not, all of it. LISTED: not all workgroups are dispatched.
#include "render/light_step.glsl"

layout(local_size_x = GROUP, local_size_y = GROUP) in;
layout(rgba32f, binding = 0) writeonly restrict uniform image2D layers_out;

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

// Every other row of workgroups first: llvmpipe gives each of its threads an equal run of them, and what takes longest
// lies together.
ivec2 spread(ivec2 group, int rows) {
    return ivec2(group.x, 2 * group.y < rows ? 2 * group.y : 2 * (rows - 1 - group.y) + 1);
}

void keep(int layer, ivec2 texel, vec4 left) { imageStore(layers_out, corner_light(layer) + texel, left); }

#if LISTED
uniform usampler2D light_groups;  // see light_groups.glsl
#endif

void main() {
    ivec2 group = spread(ivec2(gl_WorkGroupID.xy), int(gl_NumWorkGroups.y)), texel;
#if LISTED
    uint first_group = texelFetch(light_groups, ivec2(0), 0).w;
    group += ivec2(first_group & 0xffffu, first_group >> 16);
#endif
    ivec2 column = min(base_light(0), base_light(light_tiles.w - 1)) + GROUP * group + ivec2(gl_LocalInvocationID.xy);
    ivec2 span = layers_of(column), walked = reach_of(column);
    int first = walked.x;
#if REACH
    first = min(first, reach_in(light_before, column).x);
#endif
    if (first == light_tiles.w) return;
    Column way = walked_column(column);
    float light = 1.0;
    int layer = max(span.x, first) & ~3;
    for (int last = min(span.y, walked.y); layer <= last; layer += 4)
        if (held(layer, column, texel)) {
            vec4 left = light * after_layers(layer, walked, way);
            light = left.w;
            keep(layer, texel, left);
        }
    for (; layer <= span.y; layer += 4)
        if (held(layer, column, texel)) keep(layer, texel, vec4(light));
}
