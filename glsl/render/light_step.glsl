// The layers of the walk of light through the box, along one column.
// After the light volumes of Harris (2003) and the oriented slices of Lacroute & Levoy (1994, shear-warp).
#include "render/density.glsl"
#if SOLIDS
#include "lib/solidity.glsl"
#endif
#include "render/light_tiles.glsl" for light

uniform mat4 light_place;      // column (xy) and depth (z), light cells -> place, cells
uniform vec3 light_extent;     // the box: lateral size, depth; light cells
uniform vec2 light_slope;      // lateral place per layer, no component 0
uniform float light_path;      // way of the light through one layer, m
uniform float extinction;      // 1/m per unit of density
uniform bool past_solids;      // solids let all light by

// A column on its way through the box, worked out once: software loads a uniform anew wherever it is read.
struct Column {
    vec2 within;            // the depths between which it lies in the box, or beyond a side where light leaves
    vec3 start, half_step;  // place at depth 0, and half of the way through a layer; cells
    float thickness;        // of a layer of density 1, optical
};

// The depths between which a column at the lateral place `across` lies in the box, or not far beyond it where light leaves.
vec2 inside(vec2 across) {
    bvec2 forth = greaterThan(light_slope, vec2(0.0));
    vec2 enters = mix(light_extent.xy, vec2(0.0), forth), leaves = mix(vec2(-beyond_light), light_extent.xy + beyond_light, forth);
    vec2 low = (enters - across) / light_slope, high = (leaves - across) / light_slope;
    return vec2(max(low.x, low.y), min(min(high.x, high.y), light_extent.z));
}

Column walked_column(ivec2 number) {
    vec2 across = vec2(number) + 0.5 - start_light();
    vec3 start = (light_place * vec4(across, 0.0, 1.0)).xyz;
    return Column(inside(across), start, 0.5 * light_place[2].xyz, extinction * light_path);
}

// What is left at the end of `layer` of `light` that enters it.
// HARRIS: light * (1 - (1 - m) density) in place of light * m^density.
float after_layer(int layer, Column column, float light) {
    // the part of the layer that this column spends there, by depth
    float near = max(float(layer), column.within.x), far = min(float(layer + 1), column.within.y);
    if (far > near) {
        vec3 place = clamp(column.start + (near + far) * column.half_step, vec3(0.0), vec3(cells));
        float density = density_at(place), clear = column.thickness * (far - near);
#if HARRIS
        light *= clamp(1.0 - (1.0 - exp(-clear)) * density, 0.0, 1.0);
#else
        light *= exp(-clear * density);
#endif
#if SOLIDS
        if (!past_solids) light *= let_by_solids(place);
#endif
    }
    return light;
}

// Which column lies at a texel of the volume, and the first of the four layers of its tile.
ivec2 column_at(ivec2 texel, out int first) {
    ivec2 tile = ivec2(quotient(texel.x, light_tiles.x), quotient(texel.y, light_tiles.y));
    first = 4 * (tile.y * light_tiles.z + tile.x);
    return texel - tile * light_tiles.xy + base_light(first);
}

// Whether the tile of layer `first` holds `column`, at `texel` of it.
bool held(int first, ivec2 column, out ivec2 texel) {
    texel = column - base_light(first);
    return all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, light_tiles.xy));
}

// What is left at the end of each of the four layers of a tile of all light that enters the first. Before the first
// and behind the last of `walked` nothing stops it.
vec4 after_layers(int first, ivec2 walked, Column column) {
    vec2 ends = clamp(floor(column.within) - float(first), vec2(0.0, -1.0), vec2(4.0, 3.0));
    float light = 1.0;
    vec4 left = vec4(light);
    for (int n = max(walked.x - first, int(ends.x)), last = min(walked.y - first, int(ends.y)); n <= last; ++n) {
        light = after_layer(first + n, column, light);
        left = mix(left, vec4(light), greaterThanEqual(ivec4(0, 1, 2, 3), ivec4(n)));
    }
    return left;
}

#if REACH
uniform sampler2D light_reach;   // by group of columns, see light_reach_fragment.glsl
uniform sampler2D light_before;  // the same of the walk before, nothing where what is written now was cleared
uniform ivec2 light_first;       // the first column of all tiles
uniform int light_row;           // of the first group of columns

ivec2 reach_in(sampler2D groups, ivec2 column) {
    vec2 reach = texelFetch(groups, (column - light_first) / GROUP_SIZE + ivec2(0, light_row), 0).xy;
    return ivec2(clamp(vec2(-reach.x, reach.y), vec2(0.0, -1.0), vec2(light_tiles.w, light_tiles.w - 1)));
}
#endif

// The layers between which `column` may meet anything; where it meets nothing the first lies behind the last.
ivec2 reach_of(ivec2 column) {
#if REACH
    return reach_in(light_reach, column);
#else
    return ivec2(0, light_tiles.w - 1);
#endif
}
