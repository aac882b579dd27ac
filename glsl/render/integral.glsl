// Light that even matter sends out along a way, and what it hides: premultiplied radiance and opacity.
// look: radiance per metre, extinction (1/m). way: m.

vec4 integral(vec4 look, float way) {
    float depth = look.w * way;
    if (depth > 0.02) {
        float hidden = 1.0 - exp(-depth);
        return vec4(look.rgb * (hidden / look.w), hidden);
    }
    float share = 1.0 - depth * (0.5 - depth / 6.0);  // (1 - exp(-depth)) / depth, where floats lose the difference
    return vec4(look.rgb * (way * share), depth * share);
}
