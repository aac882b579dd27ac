// Staggered velocity FIELD between its faces; included once for each field that is sampled.
// Positions are in cells from the low corner of the box; component i lives on the low faces along axis i.
#include "lib/walls.glsl"

// Where `p` lies among the values of component `axis`: xyz in 0 .. (values - 1).
vec3 place_FIELD(vec3 p, int axis) {
    vec3 high = vec3(cells - 1 + step_along(axis));
    return clamp(p - 0.5 + 0.5 * vec3(step_along(axis)), vec3(0.0), high);
}

// Trilinear value of component `axis` at `p`, m/s.
float component_FIELD(vec3 p, int axis) {
    vec3 q = place_FIELD(p, axis);
#if HARDWARE_SAMPLER
    int k = min(int(q.z), max(cells.z - 2 + int(axis == 2), 0));
    float value = filtered_FIELD(q.xy, k)[axis];
#if DIMENSIONS == 3
    value = mix(value, filtered_FIELD(q.xy, k + 1)[axis], q.z - float(k));
#endif
#else
    ivec3 last = cells - 1 + step_along(axis), s = min(last, 1);
    ivec3 i = min(ivec3(q), max(last - 1, 0));
    vec3 f = q - vec3(i);
    float value = mix(
        mix(fetch_FIELD(i)[axis], fetch_FIELD(i + ivec3(s.x, 0, 0))[axis], f.x),
        mix(fetch_FIELD(i + ivec3(0, s.y, 0))[axis], fetch_FIELD(i + ivec3(s.xy, 0))[axis], f.x), f.y);
#if DIMENSIONS == 3
    i.z += s.z;
    value = mix(value, mix(
        mix(fetch_FIELD(i)[axis], fetch_FIELD(i + ivec3(s.x, 0, 0))[axis], f.x),
        mix(fetch_FIELD(i + ivec3(0, s.y, 0))[axis], fetch_FIELD(i + ivec3(s.xy, 0))[axis], f.x), f.y), f.z);
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
