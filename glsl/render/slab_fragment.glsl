// The light of neighbouring slabs of smoke along one ray, and what they hide: premultiplied radiance and opacity.
// Only the overlap of the ray with the box, the slab and the room in front of the scene counts, at its true
// length, so the opacity does not depend on the number of slabs. Several slabs in one pass are what blending them one
// by one makes of the picture, which a software renderer takes far longer for.
#include "render/integral.glsl"
#include "render/look_at.glsl"
#include "render/noise.glsl"
#include "render/ray_overlap.glsl"

uniform vec3 cuts;          // as for the vertices
uniform vec2 shifts;        // of the noise in the first slab, and from one to the next: evens it out along a ray
uniform float jitter;       // share of the overlap within which the sample is moved
#if ALONG_AXIS
uniform vec3 along;         // 1 along the axis of the box that slabs are cut across, else 0
uniform float nearest;      // where the picture begins, m
#endif

noperspective in vec3 origin, direction;  // cells; the ray's parameter is the depth in m
noperspective in vec2 picture;
flat in vec2 slab;          // where the slabs begin and end
flat in int number;         // of the first of them
out vec4 color_out;

void main() {
    vec3 d = divisible(direction);
#if ALONG_AXIS
    vec2 way = overlap(origin, d, along * slab.x, mix(vec3(cells), vec3(slab.y), along), vec2(nearest, 1e30));
    float start = dot(along, origin), pace = dot(along, d);  // of the ray, across the slabs
#else
    vec2 way = overlap(origin, d, vec3(0.0), vec3(cells), slab);
    float start = 0.0, pace = 1.0;
#endif
    if (!(way.y > way.x)) discard;
    way.y = before_scene(way.y, picture);
    if (!(way.y > way.x)) discard;
    float noise = blue_noise(gl_FragCoord.xy), metre = length(direction) * cell_size;
    int count = int(cuts.z), gone = 0;
    color_out = vec4(0.0);
    do {  // farthest first
        int slab_number = number + (pace > 0.0 ? count - 1 - gone : gone);
        vec2 ends = (cuts.x + cuts.y * vec2(slab_number, slab_number + 1) - start) / pace;
        float from = max(min(ends.x, ends.y), way.x), to = min(max(ends.x, ends.y), way.y);
#if FIRE
        float at = 0.5 + jitter * (noise - 0.5);  // alike in all slabs: else a flame's edge shows as noise
#else
        float at = 0.5 + jitter * (fract(noise + fract(shifts.x + shifts.y * float(slab_number))) - 0.5);
#endif
        vec4 here = integral(look_at(origin + d * mix(from, to, at)), max(to - from, 0.0) * metre);
        color_out = here + (1.0 - here.w) * color_out;
    } while (++gone < count);
    if (color_out == vec4(0.0)) discard;
}
