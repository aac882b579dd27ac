// All the smoke along one ray, nearest first: premultiplied radiance and opacity.
// The ray is cut into the slabs that slices would be drawn of, and sampled where they would sample it. Blocks of
// cells that hold next to nothing are leapt over, and what lies behind dense smoke is left out.
#include "render/integral.glsl"
#include "render/look_at.glsl"
#include "render/noise.glsl"
#include "render/ray_overlap.glsl"

const float DARK = 1.0 / 1024.0;  // what is let through, where the rest no longer counts

uniform int steps;      // from the slab's begin to its end
uniform int first_number;  // of the step in which it begins: a step keeps its number when the box moves on
uniform float lead;     // share of that step that lies before the slab
uniform float jitter;   // share of a step within which its sample is moved
uniform float faint;    // 1/m: a block that holds no more is empty

noperspective in vec3 origin, direction;  // cells; the ray's parameter is the depth in m
noperspective in vec2 picture;
flat in vec2 slab;          // where the box begins and ends, m in front of the eye
layout(location = 0) out vec4 color_out;

#if HALF
layout(location = 1) out float seen_out;  // how far the ray went for the scene, m

// The depth in the 2 x 2 pixels that this one stands for. Where an edge runs through them, the nearest or the
// farthest, in turns like a chessboard's squares: both of its sides are there to choose from afterwards.
float scene_end() {
    if (!has_depth) return slab.y;
    ivec2 here = ivec2(gl_FragCoord.xy), last = textureSize(scene_depth, 0) - 1;
    vec2 ends = vec2(slab.y, slab.x);
    for (int n = 0; n < 4; ++n) {
        float t = metres_of(texelFetch(scene_depth, min(2 * here + ivec2(n & 1, n >> 1), last), 0).x);
        t = t > 0.0 ? clamp(t, slab.x, slab.y) : slab.y;
        ends = vec2(min(ends.x, t), max(ends.y, t));
    }
    if (ends.y - ends.x < 2.0 * cell_size) return 0.5 * (ends.x + ends.y);  // no edge but a slope
    return ((here.x + here.y) & 1) == 0 ? ends.x : ends.y;
}
#endif

void main() {
    vec3 d = divisible(direction);
    vec2 way = overlap(origin, d, vec3(0.0), vec3(cells), slab);
    color_out = vec4(0.0);
#if HALF
    seen_out = scene_end();
    way.y = min(way.y, seen_out);
    if (!(way.y > way.x)) return;
#else
    way.y = before_scene(way.y, picture);
    if (!(way.y > way.x)) discard;
#endif
    float noise = blue_noise(gl_FragCoord.xy), thick = (slab.y - slab.x) / float(steps);
    float metre = length(direction) * cell_size;  // of way for a metre of depth
    float start = slab.x - lead * thick;
    int n = max(int((way.x - start) / thick), 0);
    int end = min(int(ceil((way.y - start) / thick)), lead > 0.0 ? steps + 1 : steps);
    float left = 1.0, known = way.x;  // `known`: up to there the smoke was found to be worth sampling
    while (n < end && left > DARK) {
        float from, to, at;
        while (n < end) {
            from = max(start + thick * float(n), way.x);
            to = min(start + thick * float(n + 1), way.y);
#if FIRE
            at = mix(from, to, 0.5 + jitter * (noise - 0.5));  // alike in all steps, as in slabs
#else
            at = mix(from, to, 0.5 + jitter * (fract(noise + 0.6180339887 * float(steps - 1 - n - first_number)) - 0.5));
#endif
            if (at <= known) break;
            vec3 place = origin + d * at;
            ivec3 block = clamp(ivec3(place) / BLOCK, ivec3(0), occupied_extent - 1);
            vec3 sides = (vec3(BLOCK * (block + ivec3(greaterThan(d, vec3(0.0))))) - origin) / d;
            float leaves = max(min(sides.x, min(sides.y, sides.z)), at);
            if (fetch_occupied(block).x > faint) known = leaves;
            else n = max(n + 1, int((leaves - start) / thick));
        }
        if (n >= end) break;
        vec4 light = integral(look_at(origin + d * at), max(to - from, 0.0) * metre);
        color_out += left * light;
        left *= 1.0 - light.w;
        ++n;
    }
#if !HALF
    if (color_out == vec4(0.0)) discard;
#endif
}
