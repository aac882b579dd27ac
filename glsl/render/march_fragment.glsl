// All the smoke along one ray, nearest first: premultiplied radiance and opacity.
// The ray is cut into the slabs that slices would be drawn of. Blocks of cells that hold next to nothing are leapt over, and
// what lies behind dense smoke is left out.
#include "render/cut.glsl"
#include "render/integral.glsl"
#include "render/ray_overlap.glsl"

const float DARK = 1.0 / 1024.0;  // what is let through, where the rest no longer counts

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
    vec2 whole = vec2(textureSize(scene_depth, 0));
    ivec2 here = ivec2(gl_FragCoord.xy), first = ivec2(depth_part.xy * whole + 0.5);
    ivec2 last = first + ivec2(depth_part.zw * whole + 0.5) - 1;
    vec2 ends = vec2(slab.y, slab.x);
    for (int n = 0; n < 4; ++n) {
        float t = metres_of(texelFetch(scene_depth, min(first + 2 * here + ivec2(n & 1, n >> 1), last), 0).x);
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
    float metre = length(direction) * cell_size;  // of way for a metre of depth
    int n = max(int((way.x - cuts.x) / cuts.y - 0.5 * jitter), 0);
    int last = min(int(ceil((way.y - cuts.x) / cuts.y + 0.5 * jitter)), int(cuts.w));
    float left = 1.0, from = way.x, known = -1.0;  // `known`: up to there the smoke was found to be worth looking at
    Look near = nothing();
    bool empty = true;  // `near` is nothing
    while (n <= last && left > DARK) {
        float to;
        bool there;
        do {  // to the next cut that is worth it; or the one behind such a cut, whatever it is
            to = clamp(cut(n), way.x, way.y);
            there = to <= known;
            if (!there) {
                vec3 place = origin + d * to;
                ivec3 block = clamp(ivec3(place) / BLOCK, ivec3(0), occupied_extent - 1);
                vec3 sides = (vec3(BLOCK * (block + ivec3(greaterThan(d, vec3(0.0))))) - origin) / d;
                float leaves = max(min(sides.x, min(sides.y, sides.z)), to);
                there = fetch_occupied(block).x > faint;
                if (there) known = leaves;
                else if (empty) {
                    n = max(n, int((leaves - cuts.x) / cuts.y - 0.5 * jitter));  // the last one in that block
                    from = clamp(cut(n++), way.x, way.y);
                }
            }
        } while (!there && empty && n <= last);
        if (!there && empty) break;
        Look far = nothing();
        if (there) far = look_at(origin + d * to);
        vec4 light = integral(near, far, (to - from) * metre);
        color_out += left * light;
        left *= 1.0 - light.w;
        near = far;
        from = to;
        empty = !there;
        ++n;
    }
#if !HALF
    if (color_out == vec4(0.0)) discard;
#endif
}
