// Noise that a small blur removes: interleaved gradient noise of Jimenez (2014), 0 .. 1, by pixel.

float interleaved_gradient_noise(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}
