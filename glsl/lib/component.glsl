// Staggered velocity FIELD between its faces; included once for each field that is sampled.
// Positions are in cells from the low corner of the box; component i lives on the low faces along axis i.
#include "lib/walls.glsl"
#include "lib/taps.glsl"

// Where `p` lies among the values of component `axis`: between `low` and `high`, at `share` of the way.
Taps taps_FIELD(vec3 p, int axis) {
    return taps(p - 0.5 + 0.5 * vec3(step_along(axis)), cells + step_along(axis));
}

// Component `axis` at four places round `at`, `z` being the slice: at the low and the high end along x of the low end
// along y, and at those of the high end.
vec4 square_FIELD(Taps at, int z, int axis) {
#if GATHERED
    return quad_FIELD(ivec3(at.low.xy, z), axis);
#else
    return vec4(
        fetch_FIELD(ivec3(at.low.xy, z))[axis], fetch_FIELD(ivec3(at.high.x, at.low.y, z))[axis],
        fetch_FIELD(ivec3(at.low.x, at.high.y, z))[axis], fetch_FIELD(ivec3(at.high.xy, z))[axis]);
#endif
}

// Trilinear value of component `axis` at `p`, m/s.
float component_FIELD(vec3 p, int axis) {
    Taps at = taps_FIELD(p, axis);
#if HARDWARE_SAMPLER && !ANY_PERIODIC
    vec2 xy = vec2(at.low.xy) + at.share.xy;
    float value = filtered_FIELD(xy, at.low.z)[axis];
#if DIMENSIONS == 3
    value = mix(value, filtered_FIELD(xy, at.high.z)[axis], at.share.z);
#endif
#else
    float value = mixed_square(square_FIELD(at, at.low.z, axis), at.share);
#if DIMENSIONS == 3
    value = mix(value, mixed_square(square_FIELD(at, at.high.z, axis), at.share), at.share.z);
#endif
#endif
    return beside_walls(value, p, axis);
}

// The velocity at `p`, m/s.
vec3 at_FIELD(vec3 p) {
#if DIMENSIONS == 3
    return vec3(component_FIELD(p, 0), component_FIELD(p, 1), component_FIELD(p, 2));
#else
    return vec3(component_FIELD(p, 0), component_FIELD(p, 1), 0.0);
#endif
}
