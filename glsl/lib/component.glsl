// Staggered velocity FIELD between its faces; included once for each field that is sampled.
// Positions are in cells from the low corner of the box; component i lives on the low faces along axis i.
#include "lib/walls.glsl"
#include "lib/taps.glsl"

// Where `p` lies among the values of component `axis`: between `low` and `high`, at `share` of the way.
Taps taps_FIELD(vec3 p, int axis) {
    return taps(p - 0.5 + 0.5 * vec3(step_along(axis)), cells + step_along(axis));
}

#if !GATHERED
// Component `axis` at four of the eight, `z` being the slice.
vec4 square_FIELD(Taps at, int z, int axis) {
    return vec4(
        fetch_FIELD(ivec3(at.low.xy, z))[axis], fetch_FIELD(ivec3(at.high.x, at.low.y, z))[axis],
        fetch_FIELD(ivec3(at.low.x, at.high.y, z))[axis], fetch_FIELD(ivec3(at.high.xy, z))[axis]);
}
#endif

// Component `axis` at the eight places round `at`.
Eight eight_FIELD(Taps at, int axis) {
#if GATHERED
    vec4 below = quad_FIELD(at.first, axis);
#else
    vec4 below = square_FIELD(at, at.low.z, axis);
#endif
#if DIMENSIONS == 3
#if GATHERED
    return Eight(below, quad_FIELD(at.first + vec3(0.0, 0.0, 1.0), axis));
#else
    return Eight(below, square_FIELD(at, at.high.z, axis));
#endif
#else
    return Eight(below, below);
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
    float value = mixed(eight_FIELD(at, axis), at.share);
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
