// The pixels whose samples differ: each is shown as the mean of what they would be. What is seen through has no light on
// a screen of its own: there it is the mean of radiance.
#include "render/shown.glsl"

uniform sampler2DMS samples;  // of the opaque scene

out vec4 color_out;

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    vec4 first = texelFetch(samples, here, 0), mean = first;
    vec3 light = shown(first.rgb), low = first.rgb, high = first.rgb;
    bool alike = true;
    for (int n = 1; n < 4; ++n) {
        vec4 one = texelFetch(samples, here, n);
        alike = alike && one == first;
        mean += one;
        light += shown(one.rgb);
        low = min(low, one.rgb);
        high = max(high, one.rgb);
    }
    if (alike) discard;
    mean *= 0.25;
    color_out = mean.a < 0.999 ? mean : vec4(radiance_shown_as(0.25 * light, low, high), 1.0);
}
