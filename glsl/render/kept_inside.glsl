// What becomes of a place that the flow has carried to a side of the box.
#include "lib/box.glsl"
#include "lib/finite.glsl"

// Sides that fluid passes: open ones and inflows. `entering` is negative at walls; see entering.glsl.
bvec3 through_low = bvec3(entering[0].x >= 0.0, entering[2].x >= 0.0, entering[4].x >= 0.0);
bvec3 through_high = bvec3(entering[1].x >= 0.0, entering[3].x >= 0.0, entering[5].x >= 0.0);
const float EDGE = 1e-3;   // cells from a wall

// Whether `p` (cells) lies outside the box.
bool outside_box(vec3 p) { return any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(cells))); }

// `p` (cells) carried round a periodic box and held inside walls; `lost` where it has left through a side.
vec3 kept_inside(vec3 p, out bool lost) {
    vec3 n = vec3(cells);
    p -= vec3(periodic) * n * floor(p / n);
    // a GPU's quotient may be 1 where the exact one is next to it
    p += vec3(periodic) * n * (vec3(lessThan(p, vec3(0.0))) - vec3(greaterThan(p, n)));
    p = mix(p, max(p, EDGE), not(bvec3(vec3(through_low) + vec3(periodic))));
    p = mix(p, min(p, n - EDGE), not(bvec3(vec3(through_high) + vec3(periodic))));
#if DIMENSIONS == 2
    p.z = 0.5;
#endif
    lost = outside_box(p) || dot(p, p) >= 1e18 || is_nan(dot(p, p));
    return p;
}

bool in_solid(vec3 p) {
#if SOLIDS
    return fetch_solid(in_box(ivec3(floor(p)))).x > 0.5;
#else
    return false;
#endif
}
