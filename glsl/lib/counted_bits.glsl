// How many of the lowest six bits of each number are set.
vec4 counted_bits(ivec4 bits) {
    return vec4((bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3 & 1) + (bits >> 4 & 1) + (bits >> 5 & 1));
}
