// The picture that stands behind everything, as a screen shows it when all is done: tone_map.glsl the other way round.
#include "render/srgb.glsl"

uniform sampler2D plate;
uniform vec2 plate_share;  // of its width and height, that is seen
uniform float plate_gain;  // 1 / exposure

// The radiance that the filmic curve shows as `y`.
vec3 unfilmic(vec3 y) {
    vec3 a = 2.51 - 2.43 * y, b = 0.03 - 0.59 * y;
    return (sqrt(b * b + 0.56 * a * y) - b) / (2.0 * a);
}

// picture: where, 0 .. 1.
vec3 plate_at(vec2 picture) {
    return plate_gain * unfilmic(unsrgb(texture(plate, 0.5 + (picture - 0.5) * plate_share).rgb));
}
