// The half floats nearest to single ones, ties to even, as IEEE 754-2008 has it and NumPy does it: drivers may cut off.
// What is finite ends at the largest, 65504; infinities and NaN stay.

// Of numbers up to the largest; NaN stays.
vec4 rounded_half(vec4 v) {
    // a half has 10 bits behind the leading one, and below 2^-14 it is a multiple of 2^-24
    uvec4 power = max(floatBitsToUint(v) & 0x7f800000u, 113u << 23);
    vec4 step = uintBitsToFloat(power - (10u << 23)), inverse = uintBitsToFloat((264u << 23) - power);
    return roundEven(v * inverse) * step;
}

vec4 nearest_half(vec4 v) {
    // told by its bits, as in lib/finite.glsl
    bvec4 finite = lessThan(floatBitsToUint(v) & 0x7fffffffu, uvec4(0x7f800000u));
    return mix(v, clamp(rounded_half(v), -65504.0, 65504.0), finite);
}
