// How smoke scatters: Henyey & Greenstein (1941) relative to scattering alike all round, so 1 at g = 0.
// c: cosine of the angle by which the light turns.

float phase(float c, float g) {
    float d = 1.0 + g * g - 2.0 * g * c;
    return (1.0 - g * g) / (d * sqrt(d));
}
