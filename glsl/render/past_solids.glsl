// Share of the sun's light that solids let by, by the depth at which it meets the first; see shadow_map.py.
#include "lib/turns.glsl"

uniform sampler2DShadow solid_depths;
uniform mat4 to_depths;      // place (cells) -> place in them, 0 .. 1
uniform float depth_texel;   // cells
uniform vec4 depth_spread;   // of two places in a cell from its middle, in them

// The mean of four lookups round `at`, `low` and its opposite, `left` and its: a percentage of what is closer (Reeves,
// Salesin & Cook 1987). Where the first two see the same no edge is near.
float sun_past_solids(vec3 at, vec2 low, vec2 left) {
    float sum = 0.0;
    int n = 0;
    do sum += texture(solid_depths, vec3(at.xy + ((n & 1) == 0 ? 1.0 : -1.0) * (n < 2 ? low : left), at.z));
    while (++n < turns(4) && !(n == 2 && (sum == 0.0 || sum == 2.0)));
    return sum / float(n);
}

// On a surface: of three by three texels (a quadratic B-spline), looked up as far off it as it may rise over them.
float sun_on_surface(vec3 place, vec3 n, float facing) {
    float off = depth_texel * (0.25 + 1.9 * sqrt(max(1.0 - facing * facing, 0.0)));
    vec2 middle = 0.5 / vec2(textureSize(solid_depths, 0));
    return sun_past_solids((to_depths * vec4(place + off * n, 1.0)).xyz, -middle, vec2(-middle.x, middle.y));
}

// In a cell: of four places that lie apart in it across the light's way, in rows and columns of their own, lest the edge
// of a beam shows cells.
float sun_in_cell(vec3 place) {
    return sun_past_solids((to_depths * vec4(place, 1.0)).xyz, depth_spread.xy, depth_spread.zw);
}
