// A particle as a square that faces the viewer; six vertices each.
#include "render/particle_turn.glsl"

uniform sampler2D state, values, colors;
uniform mat4 to_clip;          // cells -> clip space
uniform vec2 picture_size;     // pixels
uniform float radius;          // pixels, or m where in_metres
uniform bool in_metres;
uniform float scale;           // pixels a metre takes at w = 1
uniform bool by_value;         // coloured by `values`, else by source
uniform vec2 range;            // low end, 1 / (high - low)
uniform float opacity;

out vec2 corner;
flat out vec3 tint;
flat out float strength;

const float FADE_IN = 0.08, FADE_OUT = 0.35;   // shares of a life
const float LEAST = 0.75;      // pixels: what is smaller grows fainter instead

void main() {
    int index = gl_VertexID / 6, v = gl_VertexID - 6 * index, width = textureSize(state, 0).x;
    ivec2 texel = ivec2(index % width, index / width);
    vec4 particle = texelFetch(state, texel, 0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);   // outside the picture
    corner = vec2(0.0);
    tint = vec3(0.0);
    strength = 0.0;
    int s = source_of(index);
    if (particle.w < 0.0 || s < 0) return;
    vec4 clip = to_clip * vec4(particle.xyz, 1.0);
    if (clip.w <= 0.0) return;
    corner = vec2(v == 1 || v == 2 || v == 4, v >= 2 && v != 3) * 2.0 - 1.0;
    float pixels = in_metres ? radius * scale / clip.w : radius, shown = max(pixels, LEAST);
    float thin = min(pixels / LEAST, 1.0), spent = turn_of(index);
    strength = opacity * thin * thin * smoothstep(0.0, FADE_IN, spent) * smoothstep(1.0, 1.0 - FADE_OUT, spent);
    if (by_value) {
        float share = clamp((texelFetch(values, texel, 0).x - range.x) * range.y, 0.0, 1.0);
        tint = textureLod(colors, vec2(mix(0.5, 255.5, share) / 256.0, 0.5), 0.0).rgb;
    } else {
        tint = texelFetch(looks, ivec2(s, 0), 0).rgb;
    }
    gl_Position = clip + vec4(2.0 * shown * corner / picture_size * clip.w, 0.0, 0.0);
}
