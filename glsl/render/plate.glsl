// The picture that stands behind everything, as a screen shows it when all is done: tone_map.glsl the other way round.
uniform sampler2D plate;
uniform vec2 plate_share;  // of its width and height, that is seen
uniform float plate_gain;  // 1 / exposure

// The radiance that the filmic curve shows as `y`.
vec3 unfilmic(vec3 y) {
    vec3 a = 2.51 - 2.43 * y, b = 0.03 - 0.59 * y;
    return (sqrt(b * b + 0.56 * a * y) - b) / (2.0 * a);
}

vec3 unsrgb(vec3 x) {
    return mix(pow((x + 0.055) / 1.055, vec3(2.4)), x / 12.92, lessThanEqual(x, vec3(0.04045)));
}

// picture: where, 0 .. 1.
vec3 plate_at(vec2 picture) {
    return plate_gain * unfilmic(unsrgb(texture(plate, 0.5 + (picture - 0.5) * plate_share).rgb));
}
