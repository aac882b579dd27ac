// Cell-centred FIELD between its centres; included once for each field that is sampled.
// Positions are in cells from the low corner of the box; the value of cell i is at i + 1/2.
// In a fluid cell the last channel is 1, in a solid all channels are 0: the trilinear mean divided by its
// last channel is the mean over the fluid alone, and smoke does not fade beside a solid.
#include "lib/box.glsl"

vec3 place_FIELD(vec3 p) { return clamp(p - 0.5, vec3(0.0), vec3(cells - 1)); }

vec4 over_fluid_FIELD(vec4 mean) {
#if SOLIDS
    return mean / max(mean.w, 0.05);  // 0.05: deep in a solid there is next to nothing to take a mean of
#else
    return mean;
#endif
}

vec4 sample_FIELD(vec3 p) {
    vec3 q = place_FIELD(p);
#if HARDWARE_SAMPLER
    int k = min(int(q.z), max(cells.z - 2, 0));
    vec4 mean = filtered_FIELD(q.xy, k);
#if DIMENSIONS == 3
    mean = mix(mean, filtered_FIELD(q.xy, k + 1), q.z - float(k));
#endif
#else
    ivec3 s = min(cells - 1, 1), i = min(ivec3(q), max(cells - 2, 0));
    vec3 f = q - vec3(i);
    vec4 mean = mix(
        mix(fetch_FIELD(i), fetch_FIELD(i + ivec3(s.x, 0, 0)), f.x),
        mix(fetch_FIELD(i + ivec3(0, s.y, 0)), fetch_FIELD(i + ivec3(s.xy, 0)), f.x), f.y);
#if DIMENSIONS == 3
    i.z += s.z;
    mean = mix(mean, mix(
        mix(fetch_FIELD(i), fetch_FIELD(i + ivec3(s.x, 0, 0)), f.x),
        mix(fetch_FIELD(i + ivec3(0, s.y, 0)), fetch_FIELD(i + ivec3(s.xy, 0)), f.x), f.y), f.z);
#endif
#endif
    return over_fluid_FIELD(mean);
}
