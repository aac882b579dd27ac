// Monotone cubic FIELD among its values. To be given: read_FIELD(place, axis), up to three values and, last, 1 where
// they may be used; so in all that follows, where a value is made of several. axis: of a component, else of no use.
#include "lib/cubic.glsl"

vec4 straight_FIELD(vec4 low, vec4 high, float share) {
    return vec4(mix(low.xyz, high.xyz, share), min(low.w, high.w));
}

// `beyond`, which is straight, bent as `bent` is against `straight`.
vec4 bend_FIELD(vec4 beyond, vec4 bent, vec4 straight) {
    return vec4(beyond.xyz + (bent.xyz - straight.xyz), beyond.w);
}

vec4 between_FIELD(vec4 a, vec4 b, vec4 c, vec4 d, float share, float low_slope, float high_slope) {
    vec3 value = monotone(a.xyz, b.xyz, c.xyz, d.xyz, share, low_slope, high_slope);
    return vec4(value, min(min(a.w, b.w), min(c.w, d.w)));
}

vec4 line_FIELD(CubicTaps at, int y, int z, int axis) {
    return straight_FIELD(
        read_FIELD(ivec3(at.low.x, y, z), axis), read_FIELD(ivec3(at.high.x, y, z), axis), at.share.x);
}

vec4 row_FIELD(CubicTaps at, int y, int z, int axis, out vec4 straight) {
    vec4 low = read_FIELD(ivec3(at.low.x, y, z), axis), high = read_FIELD(ivec3(at.high.x, y, z), axis);
    straight = straight_FIELD(low, high, at.share.x);
    return between_FIELD(
        read_FIELD(ivec3(at.before.x, y, z), axis), low, high, read_FIELD(ivec3(at.after.x, y, z), axis),
        at.share.x, at.low_slope.x, at.high_slope.x);
}

vec4 plane_FIELD(CubicTaps at, int z, int axis) {
    return straight_FIELD(line_FIELD(at, at.low.y, z, axis), line_FIELD(at, at.high.y, z, axis), at.share.y);
}

vec4 slice_FIELD(CubicTaps at, int z, int axis, out vec4 straight) {
    vec4 low_line, high_line;
    vec4 low = row_FIELD(at, at.low.y, z, axis, low_line), high = row_FIELD(at, at.high.y, z, axis, high_line);
    straight = straight_FIELD(low_line, high_line, at.share.y);
    return between_FIELD(
        bend_FIELD(line_FIELD(at, at.before.y, z, axis), low, low_line), low,
        high, bend_FIELD(line_FIELD(at, at.after.y, z, axis), high, high_line),
        at.share.y, at.low_slope.y, at.high_slope.y);
}

// q, count: as in taps().
vec4 tricubic_FIELD(vec3 q, ivec3 count, int axis) {
    CubicTaps at = cubic_taps(q, count);
    vec4 straight;
#if DIMENSIONS == 3
    vec4 low = slice_FIELD(at, at.low.z, axis, straight);
    vec4 before = bend_FIELD(plane_FIELD(at, at.before.z, axis), low, straight);
    vec4 high = slice_FIELD(at, at.high.z, axis, straight);
    vec4 after = bend_FIELD(plane_FIELD(at, at.after.z, axis), high, straight);
    return between_FIELD(before, low, high, after, at.share.z, at.low_slope.z, at.high_slope.z);
#else
    return slice_FIELD(at, 0, axis, straight);
#endif
}
