// How many of the lowest six bits of each number are set.
vec4 counted_bits(ivec4 bits) {
    return vec4((bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1) + (bits >> 4 & 1) + (bits >> 5 & 1));
}

// Of the lowest eight.
int counted_bits(int bits) {
    bits = (bits & 0x55) + (bits >> 1 & 0x55);
    bits = (bits & 0x33) + (bits >> 2 & 0x33);
    return (bits & 15) + (bits >> 4 & 15);
}
