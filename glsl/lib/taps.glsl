// The eight values round a place, for trilinear sampling.
#include "lib/box.glsl"

struct Taps {
    ivec3 low, high;  // of each axis the two indices the place lies between
    vec3 first;       // low as it is before it is turned into an integer, where no axis is periodic
    vec3 share;       // of the way from low to high
};

// q: place among `count` values along each axis, the first at 0. Outside it takes the nearest value, or, along
// a periodic axis, goes on at the other side.
Taps taps(vec3 q, ivec3 count) {
    Taps at;
#if ANY_PERIODIC
    q -= vec3(periodic) * vec3(cells) * floor(q / vec3(cells));
    q = mix(clamp(q, vec3(0.0), vec3(count - 1)), q, periodic);
    // rounding can take q to the very end of the period
    at.low = min(ivec3(q), max(count - 2 + ivec3(periodic), 0));
    at.share = q - vec3(at.low);
    at.low -= ivec3(periodic) * cells * ivec3(greaterThanEqual(at.low, cells));
    at.high = at.low + min(count - 1 + ivec3(periodic), 1);
    at.high -= ivec3(periodic) * cells * ivec3(greaterThanEqual(at.high, cells));
#else
#if GATHERED
    // the same bits where no axis of the box holds one value alone: a GPU cuts off at 0 and 1 for nothing
    q = max(q, 0.0);
    at.first = floor(min(q, vec3(max(count - 2, 0))));
    at.share = clamp(q - at.first, 0.0, 1.0);
#else
    q = clamp(q, vec3(0.0), vec3(count - 1));
    at.first = min(floor(q), vec3(max(count - 2, 0)));
    at.share = q - at.first;
#endif
    at.low = ivec3(at.first);
    at.high = at.low + min(count - 1, 1);  // the same along an axis that holds one value
#endif
    return at;
}

// The index of corner n of the eight: bit 0, 1, 2 of n set for the high one along x, y, z.
ivec3 corner_of(Taps at, int n) { return at.low + (at.high - at.low) * (ivec3(n) >> ivec3(0, 1, 2) & 1); }

// Values at the eight: of those at the low end along z the low and the high one along x at the low end along y, and
// those at the high end; and so at the high end along z. In 2D both are the same.
struct Eight {
    vec4 below, above;
};

// Bilinear in x and y, of four of them.
float mixed_square(vec4 square, vec3 share) {
    return mix(mix(square.x, square.y, share.x), mix(square.z, square.w, share.x), share.y);
}

// Trilinear.
float mixed(Eight values, vec3 share) {
#if DIMENSIONS == 3
    return mix(mixed_square(values.below, share), mixed_square(values.above, share), share.z);
#else
    return mixed_square(values.below, share);
#endif
}
