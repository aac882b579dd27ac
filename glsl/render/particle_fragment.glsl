// A soft round point, or a streak with round ends; premultiplied.
#include "render/scene_depth.glsl"

uniform bool additive;   // its light is added to what is behind, and hides nothing

in vec2 corner;
flat in float stretch;
flat in vec3 tint;
flat in float strength;
out vec4 color_out;

void main() {
    vec2 off = vec2(corner.x - clamp(corner.x, 0.0, stretch), corner.y);
    float inside = 1.0 - dot(off, off);
    if (inside <= 0.0 || strength <= 0.0 || hidden(gl_FragCoord.z)) discard;
    color_out = painted(tint, strength * inside * inside);
    if (additive) color_out.a = 0.0;
}
