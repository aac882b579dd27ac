// The outlines of solids in smoke. The opaque scene has several samples a pixel, smoke is cut at the depth of one of them: a
// pixel that an outline crosses would have all of the smoke behind it, or none. It is made of its neighbours anew, of
// those wholly before the outline and of those wholly behind, in the shares of its samples; the less smoke there is, the
// less, for then its samples know better.
#include "lib/turns.glsl"
#include "render/shown.glsl"

uniform sampler2D picture, clear;  // with the smoke, and before it was drawn
uniform sampler2D scene_depth;     // one sample a pixel: of things that are drawn over the solids too
uniform sampler2DMS solid_depth;
uniform vec4 depth_scale;          // depth z, -1 .. 1 -> m: (x z + y) / (z z + w)
uniform ivec4 part;                // of the picture that solids may be seen in: left, bottom, width, height
uniform float gap;                 // m: what lies so far apart is no slope, beside what the floor spans by itself
uniform vec3 floor_depth;          // of the floor, -1 .. 1: at the picture's lower left corner, per pixel of x, of y

out vec4 color_out;

const float FAINT = 0.1;           // share of what is there, by which smoke changes it: less counts less

float least(vec4 four) { return min(min(four.x, four.y), min(four.z, four.w)); }

float most(vec4 four) { return max(max(four.x, four.y), max(four.z, four.w)); }

vec4 metres_of(vec4 depth) {
    vec4 z = 2.0 * depth - 1.0;
    return (depth_scale.x * z + depth_scale.y) / (depth_scale.z * z + depth_scale.w);
}

// How far apart the floor alone is within a pixel, m.
float spanned(ivec2 pixel) {
    float middle = dot(floor_depth, vec3(1.0, vec2(pixel) + 0.5)), aside = 0.5 * (abs(floor_depth.y) + abs(floor_depth.z));
    vec4 ends = metres_of(0.5 + 0.5 * clamp(middle + vec4(-aside, aside, 0.0, 0.0), -1.0, 1.0));
    return abs(ends.y - ends.x);
}

// How far the samples of a pixel are, m; nothing above 0 where something else hides them.
vec4 ends_of(ivec2 pixel) {
    vec4 depth = vec4(
        texelFetch(solid_depth, pixel, 0).x, texelFetch(solid_depth, pixel, 1).x,
        texelFetch(solid_depth, pixel, 2).x, texelFetch(solid_depth, pixel, 3).x);
    return texelFetch(scene_depth, pixel, 0).x < least(depth) ? vec4(0.0) : metres_of(depth);
}

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    vec4 ends = ends_of(here);
    bvec4 before = lessThan(ends, vec4(least(ends) + gap + spanned(here)));
    float share = dot(vec4(before), vec4(0.25));
    if (share == 1.0) discard;
    // what lies on either side of the outline is told by thirds in 1/m, as far things are far from all others: what is about
    // halfway, such as floor between a solid and the backdrop, is neither
    float a = most(mix(vec4(0.0), ends, before)), b = least(mix(ends, vec4(1e30), before));
    float last_near = 3.0 * a * b / (a + 2.0 * b), first_far = 3.0 * a * b / (2.0 * a + b);
    vec4 near = vec4(0.0), far = vec4(0.0);
    vec2 count = vec2(0.0);
    vec4 smoke = vec4(0.0), all = vec4(1e-20);
    int n = 0;
    do {
        ivec2 way = ivec2(n % 3, n / 3) - 1, beside = here + way;
        if (any(lessThan(beside, part.xy)) || any(greaterThanEqual(beside, part.xy + part.zw))) continue;
        ends = ends_of(beside);
        float weight = way.x * way.y == 0 ? 2.0 : 1.0;
        vec4 color = texelFetch(picture, beside, 0), before_it = texelFetch(clear, beside, 0);
        smoke = max(smoke, abs(color - before_it));
        all = max(all, max(color, before_it));
        if (least(ends) > first_far) {
            far += weight * color;
            count.y += weight;
        } else if (least(ends) > 0.0 && most(ends) < last_near) {
            near += weight * color;
            count.x += weight;
        }
    } while (++n < turns(9));
    if (count.x == 0.0 || count.y == 0.0) discard;
    float there = clamp(most(smoke / all) / FAINT, 0.0, 1.0);
    near /= count.x;
    far /= count.y;
    vec4 mended = mix(far, near, share);
    if (mended.a > 0.999) {
        vec3 light = mix(shown(far.rgb), shown(near.rgb), share);
        mended.rgb = radiance_shown_as(light, min(far.rgb, near.rgb), max(far.rgb, near.rgb));
    }
    color_out = mix(texelFetch(picture, here, 0), mended, there);
}
