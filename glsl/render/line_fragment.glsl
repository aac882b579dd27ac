// A line, darker towards its edges as a tube is, with an edge one pixel soft; premultiplied.
#include "render/color_map.glsl"
#include "render/scene_depth.glsl"

uniform float opacity;

in float across;
flat in float half_width;
in float value, strength;
out vec4 color_out;

void main() {
    float cover = clamp(half_width + 0.5 - abs(across), 0.0, 1.0) * min(1.0, 2.0 * half_width);
    float alpha = cover * strength * opacity;
    if (alpha < 0.02 || hidden(gl_FragCoord.z)) discard;
    float side = across / max(half_width, 0.5);
    float round_off = mix(1.0, sqrt(max(1.0 - 0.8 * side * side, 0.05)), smoothstep(0.6, 1.5, half_width));
    vec3 color = mapped_color(value);
    color_out = painted(color * round_off, alpha);
}
