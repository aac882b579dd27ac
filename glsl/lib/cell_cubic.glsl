// Cell-centred FIELD between its centres, monotone cubic; positions as in cell_sample.glsl.
#include "lib/cubic.glsl"
#include "lib/cell_sample.glsl" for FIELD

// xyz: the values between four; w: 1 where all of them lie in the fluid.
vec4 between_FIELD(vec4 a, vec4 b, vec4 c, vec4 d, float share, float low_slope, float high_slope) {
    vec3 value = monotone(a.xyz, b.xyz, c.xyz, d.xyz, share, low_slope, high_slope);
    return vec4(value, min(min(a.w, b.w), min(c.w, d.w)));
}

vec4 row_FIELD(CubicTaps at, int y, int z) {
    return between_FIELD(
        fetch_FIELD(ivec3(at.before.x, y, z)), fetch_FIELD(ivec3(at.low.x, y, z)),
        fetch_FIELD(ivec3(at.high.x, y, z)), fetch_FIELD(ivec3(at.after.x, y, z)),
        at.share.x, at.low_slope.x, at.high_slope.x);
}

vec4 slice_FIELD(CubicTaps at, int z) {
    return between_FIELD(
        row_FIELD(at, at.before.y, z), row_FIELD(at, at.low.y, z),
        row_FIELD(at, at.high.y, z), row_FIELD(at, at.after.y, z),
        at.share.y, at.low_slope.y, at.high_slope.y);
}

// The value at `p`. Where one of its 4 x 4 x 4 cells is solid it is the trilinear mean of what can be reached.
vec4 cubic_FIELD(vec3 p) {
    CubicTaps at = cubic_taps(p - 0.5, cells);
#if DIMENSIONS == 3
    vec4 before = vec4(0.0), low = before, high = before, after = before;
    for (int n = 0; n < 4; ++n) {  // a loop of slices is compiled in a quarter of the time of four
        before = low;
        low = high;
        high = after;
        after = slice_FIELD(at, slice_of(at, n));
    }
    vec4 value = between_FIELD(before, low, high, after, at.share.z, at.low_slope.z, at.high_slope.z);
#else
    vec4 value = slice_FIELD(at, 0);
#endif
#if SOLIDS
    if (value.w < 0.5) return sample_FIELD(p);
#endif
    return value;
}
