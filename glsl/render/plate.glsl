// The picture that stands behind everything, as a screen shows it when all is done: tone_map.glsl the other way round.
#include "render/filmic.glsl"
#include "render/srgb.glsl"

uniform sampler2D plate;
uniform vec2 plate_share;  // of its width and height, that is seen
uniform float plate_gain;  // 1 / exposure

// picture: where, 0 .. 1.
vec3 plate_at(vec2 picture) {
    return plate_gain * unfilmic(unsrgb(texture(plate, 0.5 + (picture - 0.5) * plate_share).rgb));
}
