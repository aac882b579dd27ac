// Linear radiance to what a screen shows: a filmic curve, sRGB (IEC 61966-2-1), and noise of one step of 8 bits,
// triangular, that keeps gradients free of bands.
#include "lib/between.glsl"
#include "render/filmic.glsl"
#include "render/noise.glsl"
#include "render/srgb.glsl"

uniform sampler2D picture;
uniform vec2 size;        // pixels of the target
uniform vec2 corner;      // its first pixel
uniform float exposure;
uniform int alpha;        // 0: none, the picture is opaque; 1: premultiplied; 2: straight

out vec4 color_out;

vec3 on_screen(vec3 radiance) { return srgb(clamp(filmic(exposure * radiance), 0.0, 1.0)); }

// Noise spread evenly over 0 .. 1 as triangular noise, -1 .. 1: in the same order, so as blue as before.
float triangular(float noise) {
    float side = 2.0 * noise - 1.0;
    return sign(side) * (1.0 - sqrt(1.0 - abs(side)));
}

void main() {
    vec2 pixel = gl_FragCoord.xy - corner;
    vec4 radiance = between(picture, pixel / size);
    vec3 color = on_screen(radiance.rgb);  // as it is over black
    color_out = vec4(color + triangular(blue_noise(pixel)) / 255.0, 1.0);
    if (alpha == 0) return;
    color_out = vec4(color, clamp(radiance.a, 0.0, 1.0));
    if (alpha == 2) {
        // Over black it is as bright as there. What hides a share of the picture is that share of a curve, not
        // of its value: hiding more by as much leaves its own colour, and thin edges have no bright rim. Fire,
        // which hides nothing, has to hide a little for its colour to be seen.
        vec3 alone = on_screen(radiance.rgb / max(color_out.a, 1e-6));
        vec3 share = color / max(alone, 1e-30);
        float shown = max(color_out.a, max(share.r, max(share.g, share.b)));
        color_out = vec4(shown > 0.0 ? color / shown : vec3(0.0), shown);
    }
}
