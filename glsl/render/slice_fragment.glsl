// A quantity on a plane, in colours. Its edge at the sides of the box is one pixel soft.
#include "lib/cell_sample.glsl" for shown
#if SOLIDS
#include "lib/solidity.glsl"
#endif
#include "render/color_map.glsl"
#include "render/scene_depth.glsl"

uniform vec2 range;        // low end, 1 / (high - low)
uniform float opacity;
uniform float contours;    // lines of equal value

in vec3 place;             // cells
out vec4 color_out;

const vec3 SOLID = vec3(0.30, 0.31, 0.33);

void main() {
    vec3 pixel = max(fwidth(place), vec3(1e-6));
    // a plane that lies in a side is in the box: a hair beyond it is still drawn
    vec3 inside = min(place, vec3(cells) - place) / pixel + 0.5;
    inside = mix(inside, step(vec3(-1e-3), min(place, vec3(cells) - place)), lessThan(pixel, vec3(1e-5)));
    float alpha = opacity * clamp(min(inside.x, min(inside.y, inside.z)), 0.0, 1.0);
    float value = (sample_shown(place).x - range.x) * range.y;
    float lines = value * (contours + 1.0), slope = fwidth(lines);
#if SOLIDS
    float solid = solidity(place), edge = max(fwidth(solid), 1e-4);
#endif
    // slopes are known before any pixel is gone
    if (alpha <= 0.0 || hidden(gl_FragCoord.z)) discard;
    vec3 color = mapped_color(clamp(value, 0.0, 1.0));
    if (contours > 0.0) {
        float away = abs(lines - round(lines)) / max(slope, 1e-6);
        float line = clamp(1.1 - away, 0.0, 1.0) * (1.0 - smoothstep(0.3, 0.6, slope));
        bool between = lines > 0.5 && lines < contours + 0.5;
        if (between) color = mix(color, mix(vec3(1.0), vec3(0.0), step(0.35, dot(color, vec3(0.3, 0.6, 0.1)))), 0.45 * line);
    }
#if SOLIDS
    color = mix(color, SOLID, clamp(0.5 + (solid - 0.5) / edge, 0.0, 1.0));
#endif
    color_out = painted(color, alpha);
}
