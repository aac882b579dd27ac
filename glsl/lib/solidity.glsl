// Share of solid round a place (cells), 0 .. 1, from the filtered field `solid`.
#include "lib/box.glsl"

float solidity(vec3 p) {
    vec3 q = clamp(p - 0.5, vec3(0.0), vec3(cells - 1));
    int k = min(int(q.z), max(cells.z - 2, 0));
    float share = filtered_solid(q.xy, k).x;
#if DIMENSIONS == 3
    share = mix(share, filtered_solid(q.xy, k + 1).x, q.z - float(k));
#endif
    return share;
}

// Share of light that solids let by in a place: none from their surface on, so that steps of a cell cannot pass
// a wall one cell thick.
float let_by_solids(vec3 p) { return max(1.0 - 2.0 * solidity(p), 0.0); }
