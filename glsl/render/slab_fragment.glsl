// The light of one slab of smoke along one ray, and what it hides: premultiplied radiance and opacity.
// Only the overlap of the ray with the box, the slab and the room in front of the scene counts, at its true
// length, so the opacity does not depend on the number of slabs.
#include "lib/cell_sample.glsl" for shaded
#include "render/integral.glsl"
#include "render/noise.glsl"

uniform sampler2D scene_depth;
uniform vec4 depth_scale;   // depth of the picture z, -1 .. 1 -> m: (x z + y) / (z z + w)
uniform bool has_depth;
uniform float jitter;       // share of the overlap within which the sample is moved

in vec3 origin, direction;  // cells; the ray's parameter is the depth in m
in vec2 picture;
flat in vec2 slab;
flat in float shift;
out vec4 color_out;

void main() {
    vec3 d = mix(direction, vec3(1e-6), lessThan(abs(direction), vec3(1e-6)));
    vec3 a = -origin / d, b = (vec3(cells) - origin) / d;
    vec3 low = min(a, b), high = max(a, b);
    float near = max(max(low.x, low.y), max(low.z, slab.x));
    float far = min(min(high.x, high.y), min(high.z, slab.y));
    if (has_depth) {
        float z = 2.0 * textureLod(scene_depth, picture, 0.0).x - 1.0;
        float t = (depth_scale.x * z + depth_scale.y) / (depth_scale.z * z + depth_scale.w);
        if (t > 0.0) far = min(far, t);
    }
    if (!(far > near)) discard;
    float at = 0.5 + jitter * (fract(interleaved_gradient_noise(gl_FragCoord.xy) + shift) - 0.5);
    vec4 here = sample_shaded(origin + d * mix(near, far, at));
    if (here == vec4(0.0)) discard;
    color_out = integral(here, (far - near) * length(direction) * cell_size);
}
