// What of a ray counts: where it is in a box, between two depths and in front of the scene. (from, to), m in front
// of the eye; nothing where to <= from.
#include "render/ray_box.glsl"

uniform sampler2D scene_depth;
uniform vec4 depth_scale;  // value z of the scene's depth texture -> m: (x z + y) / (z z + w)
uniform vec4 depth_part;   // of that texture, where the picture lies in it: low corner and size, as shares
uniform bool has_depth;

// The scene's depth from a value of its texture; not above 0 where there is nothing, or what is no depth.
float metres_of(float z) { return (depth_scale.x * z + depth_scale.y) / (depth_scale.z * z + depth_scale.w); }

vec2 overlap(vec3 origin, vec3 d, vec3 bottom, vec3 top, vec2 between) {
    vec3 per = 1.0 / d, a = (bottom - origin) * per, b = (top - origin) * per;
    vec3 low = min(a, b), high = max(a, b);
    return vec2(max(max(low.x, low.y), max(low.z, between.x)), min(min(high.x, high.y), min(high.z, between.y)));
}

float before_scene(float to, vec2 picture) {
    if (!has_depth) return to;
    float t = metres_of(textureLod(scene_depth, depth_part.xy + depth_part.zw * picture, 0.0).x);
    return t > 0.0 ? min(to, t) : to;
}
