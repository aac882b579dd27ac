// The next layer of a light volume: the share of light left at its end (0 .. 1), one texel a column.
// After the light volumes of Harris (2003) and the oriented slices of Lacroute & Levoy (1994, shear-warp).
#include "render/density.glsl"
#if SOLIDS
#include "lib/solidity.glsl"
#endif
#include "render/light_tiles.glsl" for light

uniform int layer;
uniform sampler2D previous;    // the texture with the layer before
uniform mat4 light_place;      // column (xy) and depth (z), light cells -> place, cells
uniform vec3 light_extent;     // the box: lateral size, depth; light cells
uniform vec2 light_slope;      // lateral place per layer, no component 0
uniform float light_path;      // way of the light through one layer, m
uniform float extinction;      // 1/m per unit of density
uniform bool harris;           // light * (1 - (1 - m) density) in place of light * m^density

out vec4 light_out;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy) - corner_light(layer);
    ivec2 column = texel + base_light(layer), before = column - base_light(layer - 1);
    float light = 1.0;  // a column that only now comes near the box
    if (layer > 0 && all(greaterThanEqual(before, ivec2(0))) && all(lessThan(before, light_tiles.xy)))
        light = texelFetch(previous, corner_light(layer - 1) + before, 0).x;

    // the part of the layer that this column spends inside the box, by depth
    vec2 across = vec2(column) + 0.5;
    vec2 a = -across / light_slope, b = (light_extent.xy - across) / light_slope;
    vec2 low = min(a, b), high = max(a, b);
    float near = max(float(layer), max(low.x, low.y));
    float far = min(min(float(layer + 1), light_extent.z), min(high.x, high.y));
    if (far > near) {
        vec3 place = (light_place * vec4(across, 0.5 * (near + far), 1.0)).xyz;
        float density = density_at(place), clear = extinction * light_path * (far - near);
        light *= harris ? clamp(1.0 - (1.0 - exp(-clear)) * density, 0.0, 1.0) : exp(-clear * density);
#if SOLIDS
        light *= 1.0 - solidity(place);
#endif
    }
    light_out = vec4(light);
}
