// Whole numbers of eight slices in one texel: two in each channel, the second times DIGIT. Exact up to DIGIT / 2 - 1.
const float DIGIT = 4096.0;

// The number of slice `z`, of the texel that holds it.
float of_octet(vec4 texel, int z) {
    float two = texel[z >> 1 & 3], second = floor(two / DIGIT + 0.5);
    return (z & 1) == 1 ? second : two - DIGIT * second;
}
