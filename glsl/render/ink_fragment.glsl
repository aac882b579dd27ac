// Rectangles, letters and colour bars; premultiplied.
#include "render/scene_depth.glsl"

uniform sampler2D letters;   // 1 on a stroke, 0 from `reach` units on
uniform sampler2D colors;
uniform vec2 tile;           // of a letter, texels
uniform float reach;

in vec2 place;
flat in vec2 half_size;
flat in vec4 about, tint;
flat in int sort;
out vec4 color_out;

void main() {
    vec3 color = tint.rgb;
    float cover;
    if (sort == 1) {
        vec2 part = 0.5 + 0.5 * place / half_size;
        vec2 texel = (about.xy + clamp(part, 0.5 / tile, 1.0 - 0.5 / tile)) * tile;
        float distance = reach * (1.0 - textureLod(letters, texel / vec2(textureSize(letters, 0)), 0.0).x);
        float half_width = max(0.40, 0.55 / about.z);  // units: no thinner than 1.1 pixels
        cover = clamp(0.5 + (half_width - distance) * about.z, 0.0, 1.0);
    } else {
        // distance beyond a rectangle with round corners
        vec2 q = abs(place) - half_size + about.x;
        float beyond = length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - about.x;
        cover = clamp(0.5 - beyond, 0.0, 1.0);
        if (sort == 2) color = textureLod(colors, vec2(0.5 + 0.5 * place.y / half_size.y, 0.5), 0.0).rgb;
    }
    if (cover <= 0.0) discard;
    color_out = painted(color, cover * tint.a);
}
