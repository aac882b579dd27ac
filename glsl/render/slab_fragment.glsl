// The light of neighbouring slabs of smoke along one ray, and what they hide: premultiplied radiance and opacity.
// Only the overlap of the ray with the box, the slab and the room in front of the scene counts, at its true
// length, so the opacity does not depend on the number of slabs. A slab runs evenly from what one of its ends looks like to
// what the other does. Several slabs in one pass are what blending them one by one makes of the picture, but look at each
// cut between them once, and a software renderer takes far longer to blend.
#include "render/cut.glsl"
#include "render/integral.glsl"
#include "render/ray_overlap.glsl"

#if ALONG_AXIS
uniform vec3 along;         // 1 along the axis of the box that slabs are cut across, else 0
#endif
uniform float nearest;      // where the picture begins, m

noperspective in vec3 origin, direction;  // cells; the ray's parameter is the depth in m
noperspective in vec2 picture;
flat in int number;         // of the first of the slabs
out vec4 color_out;

void main() {
    vec3 d = divisible(direction);
    vec2 way = overlap(origin, d, vec3(0.0), vec3(cells), vec2(nearest, 1e30));
#if ALONG_AXIS
    float start = dot(along, origin), pace = dot(along, d);  // of the ray, across the slabs
#else
    float start = 0.0, pace = 1.0;
#endif
    way.y = before_scene(way.y, picture);
    if (!(way.y > way.x)) discard;
    float metre = length(direction) * cell_size;
    int count = int(cuts.z), left = count, forth = pace > 0.0 ? -1 : 1, at = pace > 0.0 ? number + count : number;
    float to = clamp((cut(at) - start) / pace, way.x, way.y);
    Look far = look_at(origin + d * to);
    color_out = vec4(0.0);
    do {  // farthest first
        at += forth;
        float from = clamp((cut(at) - start) / pace, way.x, way.y);
        Look near = look_at(origin + d * from);
        vec4 here = integral(near, far, (to - from) * metre);
        color_out = here + (1.0 - here.w) * color_out;
        to = from;
        far = near;
    } while (--left > 0);
    if (color_out == vec4(0.0)) discard;
}
