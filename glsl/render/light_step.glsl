// One layer of the walk of light through the box, along one column.
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
uniform bool harris;           // light * (1 - (1 - m) density) in place of light * m^density

// What is left at the end of `layer` of `light` that enters it in `column`.
float after_layer(int layer, ivec2 column, float light) {
    // the part of the layer that this column spends inside the box, by depth
    vec2 across = vec2(column) + 0.5 - start_light();
    vec2 a = -across / light_slope, b = (light_extent.xy - across) / light_slope;
    vec2 low = min(a, b), high = max(a, b);
    float near = max(float(layer), max(low.x, low.y));
    float far = min(min(float(layer + 1), light_extent.z), min(high.x, high.y));
    if (far > near) {
        vec3 place = (light_place * vec4(across, 0.5 * (near + far), 1.0)).xyz;
        float density = density_at(place), clear = extinction * light_path * (far - near);
        light *= harris ? clamp(1.0 - (1.0 - exp(-clear)) * density, 0.0, 1.0) : exp(-clear * density);
#if SOLIDS
        light *= let_by_solids(place);
#endif
    }
    return light;
}
