// A picture of half the width and height made whole: bilinear, but from those of the four pixels whose rays went
// as far as this one's (joint bilateral upsampling: Kopf, Cohen, Lischinski & Uyttendaele 2007), so that smoke keeps
// to its side of an opaque thing's edge.
#include "render/ray_overlap.glsl"

uniform sampler2D half_color, half_seen;
uniform vec2 picture_size;   // pixels of the whole picture
uniform float likeness;      // m: a ray that went so much further counts half

noperspective in vec2 picture;
flat in vec2 slab;
out vec4 color_out;

void main() {
    float seen = clamp(before_scene(slab.y, picture), slab.x, slab.y);
    vec2 at = 0.5 * picture * picture_size - 0.5;
    ivec2 low = ivec2(floor(at)), last = textureSize(half_color, 0) - 1;
    vec2 share = at - vec2(low);
    ivec4 x = clamp(low.x + ivec4(0, 1, 0, 1), 0, last.x), y = clamp(low.y + ivec4(0, 0, 1, 1), 0, last.y);
    vec4 gap = abs(vec4(
        texelFetch(half_seen, ivec2(x.x, y.x), 0).x, texelFetch(half_seen, ivec2(x.y, y.y), 0).x,
        texelFetch(half_seen, ivec2(x.z, y.z), 0).x, texelFetch(half_seen, ivec2(x.w, y.w), 0).x) - seen);
    float least = min(min(gap.x, gap.y), min(gap.z, gap.w));
    vec4 weight = vec4(1.0 - share.x, share.x, 1.0 - share.x, share.x)
        * vec4(vec2(1.0 - share.y), vec2(share.y))
        * exp2((least * least - gap * gap) / (likeness * likeness));
    color_out = (weight.x * texelFetch(half_color, ivec2(x.x, y.x), 0)
        + weight.y * texelFetch(half_color, ivec2(x.y, y.y), 0)
        + weight.z * texelFetch(half_color, ivec2(x.z, y.z), 0)
        + weight.w * texelFetch(half_color, ivec2(x.w, y.w), 0)) / dot(weight, vec4(1.0));
    if (color_out == vec4(0.0)) discard;
}
