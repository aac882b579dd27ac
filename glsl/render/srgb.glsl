// Linear light and what a screen shows (sRGB, IEC 61966-2-1).

vec3 srgb(vec3 x) {
    return mix(1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, 12.92 * x, lessThanEqual(x, vec3(0.0031308)));
}

vec3 unsrgb(vec3 x) {
    return mix(pow((x + 0.055) / 1.055, vec3(2.4)), x / 12.92, lessThanEqual(x, vec3(0.04045)));
}
