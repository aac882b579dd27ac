// Monotone cubic interpolation, axis by axis (Fedkiw, Stam & Jensen 2001, appendix B).
// Between two values runs the Hermite cubic with slopes from the values beside them. The paper sets a slope to 0
// where its sign is not that of the rise; a steep one of the right sign still overshoots. So slopes are also held
// to three times the rise, which is enough for the cubic to be monotone (Fritsch & Carlson 1980): it stays between
// the two middle values and, axis by axis, between the smallest and the largest of the eight values round the
// place. No new extremum can appear, so the result needs no limiter.
//
// Only what is between the middle two rows and slices is cubic along the axes before. Values beyond them, which a
// slope alone is taken from, are linear there (Ritchie et al. 1995) and bend as their neighbours do: without that the
// sample would be of second order. So 32 values of 64 are read.
#include "lib/taps.glsl"

struct CubicTaps {
    ivec3 before, low, high, after;  // of each axis four indices in a row, the place between the middle two
    vec3 share;                      // of the way from low to high
    vec3 low_slope, high_slope;      // 1 over the distance of the two values a slope is taken from
};

// q, count: as in taps(). Beside a side that is not periodic a slope is taken from the last two values.
CubicTaps cubic_taps(vec3 q, ivec3 count) {
    Taps at = taps(q, count);
    ivec3 wraps = ivec3(periodic);
    ivec3 first = ivec3(equal(at.low, ivec3(0))) * (1 - wraps);
    ivec3 last = ivec3(equal(at.high, count - 1)) * (1 - wraps);
    ivec3 before = at.low - 1 + first, after = at.high + 1 - last;
    before += wraps * cells * ivec3(lessThan(before, ivec3(0)));
    after -= wraps * cells * ivec3(greaterThanEqual(after, cells));
    return CubicTaps(before, at.low, at.high, after, at.share, 0.5 + 0.5 * vec3(first), 0.5 + 0.5 * vec3(last));
}

// The value at `share` of the way from `low` to `high`; slopes are those of (high - before), (after - low).
vec3 monotone(vec3 before, vec3 low, vec3 high, vec3 after, float share, float low_slope, float high_slope) {
    vec3 rise = high - low, least = min(3.0 * rise, 0.0), most = max(3.0 * rise, 0.0);
    vec3 start = clamp((high - before) * low_slope, least, most);
    vec3 end = clamp((after - low) * high_slope, least, most);
    float left = 1.0 - share;
    vec3 value = low + share * (share * (3.0 - 2.0 * share) * rise + left * (left * start - share * end));
    return clamp(value, min(low, high), max(low, high));  // against rounding alone: a start of 0 .. 1 stays there
}
