// The wall of the studio: a warm glow behind the subject that falls off into a cool dark. Linear radiance.
// picture: 0 .. 1. aspect: width over height.

vec3 backdrop(vec2 picture, float aspect) {
    vec2 p = (picture - vec2(0.5, 0.42)) * vec2(aspect, 1.0);
    vec3 dark = mix(vec3(0.008, 0.010, 0.015), vec3(0.015, 0.018, 0.028), picture.y);
    float around = dot(p, p);  // wide and cool, with a warm heart
    return dark + exp(-2.2 * around) * vec3(0.026, 0.025, 0.030) + exp(-6.0 * around) * vec3(0.085, 0.040, 0.014);
}
