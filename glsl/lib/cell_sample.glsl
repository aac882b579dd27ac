// Cell-centred FIELD between its centres; included once for each field that is sampled.
// Positions are in cells from the low corner of the box; the value of cell i is at i + 1/2.
// In a fluid cell the last channel is 1, in a solid all channels are 0: the weighted sum divided by its last
// channel is the mean over the fluid alone, and smoke does not fade beside a solid.
#include "lib/taps.glsl"
#include "lib/reachable.glsl"

#ifndef COVERED
#define COVERED 0  // only where scalars are carried is there such a share
#endif
#ifndef COUNTED
#define COUNTED 0.5  // share of fluid above which a cell counts
#endif

vec4 over_fluid_FIELD(vec4 mean) {
#if SOLIDS
    return mean / max(mean.w, 0.05);  // 0.05: deep in a solid there is next to nothing to take a mean of
#else
    return mean;
#endif
}

vec4 sample_FIELD(vec3 p) {
    Taps at = taps(p - 0.5, cells);
#if HARDWARE_SAMPLER && !ANY_PERIODIC
    vec2 xy = clamp(p.xy - 0.5, vec2(0.0), vec2(cells.xy - 1));  // low + share, to the bit
    vec4 mean = filtered_FIELD(xy, at.low.z);
#if DIMENSIONS == 3
    mean = mix(mean, filtered_FIELD(xy, at.high.z), at.share.z);
#endif
#elif SOLIDS
    const int corners = 1 << DIMENSIONS;
    vec4 values[corners];
    int fluid = 0;
    for (int n = 0; n < corners; ++n) {
        values[n] = fetch_FIELD(corner_of(at, n));
        fluid |= int(values[n].w > COUNTED) << n;
#if COVERED
        values[n] /= max(values[n].w, 0.05);  // a share of what was there, see was_fluid.glsl
#endif
    }
    int seen = reachable(fluid, at.share);
    vec4 mean = vec4(0.0);
    for (int n = 0; n < corners; ++n) {
        vec3 share = mix(1.0 - at.share, at.share, equal(ivec3(n) >> ivec3(0, 1, 2) & 1, ivec3(1)));
        float weight = share.x * share.y * (DIMENSIONS == 3 ? share.z : 1.0);
        mean += float(seen >> n & 1) * weight * values[n];
    }
#else
    ivec3 a = at.low, b = at.high;
    vec4 mean = mix(
        mix(fetch_FIELD(a), fetch_FIELD(ivec3(b.x, a.yz)), at.share.x),
        mix(fetch_FIELD(ivec3(a.x, b.y, a.z)), fetch_FIELD(ivec3(b.xy, a.z)), at.share.x), at.share.y);
#if DIMENSIONS == 3
    mean = mix(mean, mix(
        mix(fetch_FIELD(ivec3(a.xy, b.z)), fetch_FIELD(ivec3(b.x, a.y, b.z)), at.share.x),
        mix(fetch_FIELD(ivec3(a.x, b.yz)), fetch_FIELD(b), at.share.x), at.share.y), at.share.z);
#endif
#endif
    return over_fluid_FIELD(mean);
}
