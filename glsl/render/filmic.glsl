// A filmic curve (Narkowicz 2015, a fit to ACES within 0.02): radiance to light of a screen, where 1 is all that it has.
// It goes on to 1.03, so that each radiance has a light of its own.

vec3 filmic(vec3 radiance) {
    vec3 x = min(radiance, 1e9);  // its square is finite
    return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
}

// The radiance that the curve shows as `y`.
vec3 unfilmic(vec3 y) {
    vec3 a = max(2.51 - 2.43 * y, 1e-6), b = 0.03 - 0.59 * y;
    vec3 root = sqrt(b * b + 0.56 * a * y);
    return mix((root - b) / (2.0 * a), 0.28 * y / (root + b), greaterThan(b, vec3(0.0)));  // neither is a small difference
}
