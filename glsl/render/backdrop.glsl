// The wall of the studio: a warm glow behind the subject that falls off into the dark. Linear radiance.

vec3 backdrop(vec2 picture, float aspect) {
    vec2 p = (picture - vec2(0.5, 0.45)) * vec2(aspect, 1.0);
    float glow = exp(-3.0 * dot(p, p));
    vec3 dark = mix(vec3(0.012, 0.013, 0.018), vec3(0.020, 0.022, 0.031), picture.y);
    return dark + glow * vec3(0.115, 0.066, 0.036);
}
