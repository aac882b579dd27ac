// Whether numbers are, told by their bits: compilers may take a comparison, or isnan(), for what it is of numbers that are
// finite, as Mesa 26 does.
bool is_finite(float x) { return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
