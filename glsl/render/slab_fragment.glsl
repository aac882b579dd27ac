// The light of one slab of smoke along one ray, and what it hides: premultiplied radiance and opacity.
// Only the overlap of the ray with the box, the slab and the room in front of the scene counts, at its true
// length, so the opacity does not depend on the number of slabs.
#include "lib/cell_sample.glsl" for shaded
#include "render/integral.glsl"
#include "render/noise.glsl"
#include "render/ray_overlap.glsl"

uniform float jitter;       // share of the overlap within which the sample is moved
#if ALONG_AXIS
uniform vec3 along;         // 1 along the axis of the box that slabs are cut across, else 0
uniform float nearest;      // where the picture begins, m
#endif

noperspective in vec3 origin, direction;  // cells; the ray's parameter is the depth in m
noperspective in vec2 picture;
flat in vec2 slab;
flat in float shift;
out vec4 color_out;

void main() {
    vec3 d = divisible(direction);
#if ALONG_AXIS
    vec2 way = overlap(origin, d, along * slab.x, mix(vec3(cells), vec3(slab.y), along), vec2(nearest, 1e30));
#else
    vec2 way = overlap(origin, d, vec3(0.0), vec3(cells), slab);
#endif
    if (!(way.y > way.x)) discard;
    way.y = before_scene(way.y, picture);
    if (!(way.y > way.x)) discard;
    float at = 0.5 + jitter * (fract(blue_noise(gl_FragCoord.xy) + shift) - 0.5);
    vec4 here = sample_shaded(origin + d * mix(way.x, way.y, at));
    if (here == vec4(0.0)) discard;
    color_out = integral(here, (way.y - way.x) * length(direction) * cell_size);
}
