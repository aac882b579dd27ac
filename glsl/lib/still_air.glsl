// What is drawn in through an open side comes from air at rest.
#include "lib/box.glsl"

// Share of the velocity at the side that is left at `p` (cells): 1 inside, 0 from one cell beyond an open side.
// Air that came in as fast as it moves there already would gather speed without end.
float still_air(vec3 p) {
#if ALL_WALLS
    return 1.0;
#else
    vec3 low = mix(vec3(1.0), clamp(1.0 + p, 0.0, 1.0), open_low);
    vec3 high = mix(vec3(1.0), clamp(1.0 + vec3(cells) - p, 0.0, 1.0), open_high);
    return low.x * low.y * low.z * high.x * high.y * high.z;
#endif
}
