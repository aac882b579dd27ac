// What the flow carries along the solids: it slides over them instead of stopping at the faces of their voxels.
#include "lib/clipped.glsl"

const float KEPT = 0.5;   // cells between a flat wall and what slides along it: the velocity there is the fluid's own

// Whether one of the cells whose centres are round `p` (cells) is solid: else no flat wall is within half a cell of it.
bool by_solid(vec3 p) {
#if SOLIDS
    ivec3 low = ivec3(floor(p - 0.5));
    float sum = 0.0;
    for (int n = 0; n < 1 << DIMENSIONS; ++n) sum += fetch_solid(neighbour(low + (ivec3(n) >> ivec3(0, 1, 2) & 1))).x;
    return sum > 0.5;
#else
    return false;
#endif
}

// Share of solid round `p` (cells; w), and how it grows along each axis: the voxels seen through a quadratic B-spline.
// A flat wall at distance d < 1 has a share of (1 - d)^2 / 2, which grows by 1 - d a cell towards it.
vec4 solid_round(vec3 p) {
    vec4 sum = vec4(0.0);
#if SOLIDS
    ivec3 middle = ivec3(floor(p));
    vec3 at = p - vec3(middle) - 0.5;
    const int deep = DIMENSIONS == 3 ? 1 : 0;
    for (int k = -deep; k <= deep; ++k)
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) {
                vec3 off = at - vec3(i, j, k), w = 0.5 * (1.5 - abs(off)) * (1.5 - abs(off)), s = off - 1.5 * sign(off);
                bvec3 own = equal(ivec3(i, j, k), ivec3(0));
                w = mix(w, 0.75 - off * off, own);
                s = mix(s, -2.0 * off, own);
#if DIMENSIONS == 2
                w.z = 1.0;
                s.z = 0.0;
#endif
                float solid = fetch_solid(neighbour(middle + ivec3(i, j, k))).x;
                sum += solid * vec4(s.x * w.y * w.z, w.x * s.y * w.z, w.x * w.y * s.z, w.x * w.y * w.z);
            }
#endif
    return sum;
}

// Whether `p` (cells) lies beyond a side that is not periodic.
bool beyond_sides(vec3 p) {
    bvec3 out_of_box = bvec3(vec3(lessThan(p, vec3(0.0))) + vec3(greaterThan(p, vec3(cells))));
    return any(bvec3(vec3(out_of_box) * (1.0 - vec3(periodic))));
}

// Where what is on its way from `start` to `end` (cells) comes to: where a solid is in the way, the rest of the way leads
// along its surface, and what has come near is held off it.
vec3 slid(vec3 start, vec3 end) {
#if SOLIDS
    vec3 q = clipped(start, end), rest = end - q;
    if (beyond_sides(q) || !by_solid(q)) return q;
    vec4 round = solid_round(q);
    float squared = dot(round.xyz, round.xyz), near = sqrt(2.0 * round.w);   // near: 1 - d beside a flat wall
    rest -= max(dot(rest, round.xyz), 0.0) / max(squared, 1e-6) * round.xyz;
    q = clipped(q, q - max(1.0 - (1.0 - KEPT) / max(near, 1e-6), 0.0) * round.xyz);
    return clipped(q, q + rest);
#else
    return end;
#endif
}
