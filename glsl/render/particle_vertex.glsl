// A particle as a square that faces the viewer, drawn out along the way that it has come; six vertices each.
#include "render/color_map.glsl"
#include "render/particle_turn.glsl"

uniform sampler2D state, paces, values, through;
uniform mat4 to_clip;          // cells -> clip space
uniform float cell_size;       // m
uniform float streak;          // s of its way that are seen
uniform vec2 picture_size;     // pixels
uniform float radius;          // pixels, or m where in_metres
uniform bool in_metres;
uniform float scale;           // pixels a metre takes at w = 1
uniform bool by_value;         // coloured by `values`, else by source
uniform vec2 range;            // low end, 1 / (high - low)
uniform float opacity;
uniform bool veiled;           // `through`: the share of its light that smoke lets through

out vec2 corner;               // in radii from the head, the tail lying along x
flat out float stretch;        // radii from the head to the tail
flat out vec3 tint;
flat out float strength;

const float FADE_IN = 0.08, FADE_OUT = 0.35;   // shares of a life
const float LEAST = 1.0;       // pixels: what is smaller grows fainter instead; of less, the middles of pixels would see
                               // more or less from picture to picture, by where among them it lies

// What pixels get from a round point and from each radius of a streak's length, at a radius of 1; see particle_fragment.glsl.
const vec2 WHOLE = vec2(1.04719755, 1.06666667);

void main() {
    int index = gl_VertexID / 6, v = gl_VertexID - 6 * index, width = textureSize(state, 0).x;
    ivec2 texel = ivec2(index % width, index / width);
    vec4 particle = texelFetch(state, texel, 0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);   // outside the picture
    corner = vec2(0.0);
    tint = vec3(0.0);
    strength = stretch = 0.0;
    int s = source_of(index);
    if (particle.w < 0.0 || s < 0) return;
    vec4 clip = to_clip * vec4(particle.xyz, 1.0);
    if (clip.w <= 0.0) return;
    corner = vec2(v == 1 || v == 2 || v == 4, v >= 2 && v != 3) * 2.0 - 1.0;
    float own = radius * grain_of(index), pixels = in_metres ? own * scale / clip.w : own, shown = max(pixels, LEAST);
    vec2 along = vec2(1.0, 0.0);
    if (streak > 0.0) {
        vec3 back = min(streak, particle.w) / cell_size * texelFetch(paces, texel, 0).xyz;
        vec4 tail = to_clip * vec4(particle.xyz - back, 1.0);
        vec2 way = tail.w > 0.0 ? 0.5 * picture_size * (tail.xy / tail.w - clip.xy / clip.w) : vec2(0.0);
        float far = length(way);
        if (far > 0.01) along = way / far;
        stretch = far / shown;
        if (corner.x > 0.0) corner.x += stretch;
    }
    float spent = turn_of(index), thin = pixels / shown;
    // of a streak the breadth is drawn wider, and its length is what it is
    thin *= dot(WHOLE, vec2(thin, stretch)) / dot(WHOLE, vec2(1.0, stretch));
    strength = opacity * thin * smoothstep(0.0, FADE_IN, spent) * (1.0 - smoothstep(1.0 - FADE_OUT, 1.0, spent));
    if (veiled) strength *= texelFetch(through, texel, 0).x;
    if (by_value) {
        float share = clamp((texelFetch(values, texel, 0).x - range.x) * range.y, 0.0, 1.0);
        tint = mapped_color(share);
    } else {
        tint = mix(texelFetch(looks, ivec2(s, 0), 0).rgb, texelFetch(looks, ivec2(s, 1), 0).rgb, spent);
    }
    vec2 off = shown * (corner.x * along + corner.y * vec2(-along.y, along.x));
    gl_Position = clip + vec4(2.0 * off / picture_size * clip.w, 0.0, 0.0);
}
