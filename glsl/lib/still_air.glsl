// What is drawn in through an open side comes from air at rest.
#include "lib/box.glsl"

// Share of the velocity that is left in component `axis` of `face`, which comes from `p` (cells). Across a side: round
// the face lies half a cell either way, of a face on the side the half in the box alone; of that as much is at rest
// as what has come in fills. Along a side: none is left of what comes from a cell beyond it. Air that came in as fast
// as it moves there already would gather speed without end.
float still_air(vec3 p, ivec3 face, int axis) {
#if ALL_WALLS
    return 1.0;
#else
    vec3 across = vec3(step_along(axis)), low = 1.0 - 0.5 * across + p, high = 1.0 - 0.5 * across + vec3(cells) - p;
    low *= 1.0 + across * vec3(equal(face, ivec3(0)));
    high *= 1.0 + across * vec3(equal(face, cells));
    vec3 left = mix(vec3(1.0), clamp(low, 0.0, 1.0), open_low) * mix(vec3(1.0), clamp(high, 0.0, 1.0), open_high);
    return left.x * left.y * left.z;
#endif
}
