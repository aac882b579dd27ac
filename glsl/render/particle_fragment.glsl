// A soft round point, premultiplied.
#include "render/scene_depth.glsl"

uniform bool additive;   // its light is added to what is behind, and hides nothing

in vec2 corner;
flat in vec3 tint;
flat in float strength;
out vec4 color_out;

void main() {
    float inside = 1.0 - dot(corner, corner);
    if (inside <= 0.0 || strength <= 0.0 || hidden(gl_FragCoord.z)) discard;
    color_out = painted(tint, strength * inside * inside);
    if (additive) color_out.a = 0.0;
}
