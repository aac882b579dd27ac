// No-slip walls seen by a sample between the faces. Written out side by side: a loop over the sides reads
// positions and wall velocities by a running index, which costs a software renderer more than the sample.
// RESTING: axes, in bits, along which both walls hold the fluid at rest. Of these only the nearer one is seen.
#include "lib/box.glsl"

#define RESTING_SIDES (3 * (RESTING & 1) + 6 * (RESTING & 2) + 12 * (RESTING & 4))

// `value` of velocity component `axis`, interpolated from inside the box alone, at `p` (cells). Within half
// a cell of a no-slip wall it falls linearly to the wall's own velocity, as a mirrored ghost cell makes it.
// Along an edge the mean of one wall behind the other and the reverse: there neither goes before the other.
float beside_walls(float value, vec3 p, int axis) {
#if NO_SLIP
    vec3 q = vec3(cells) - p, low = clamp(2.0 * p, 0.0, 1.0), high = clamp(2.0 * q, 0.0, 1.0);
    vec3 nearer = clamp(2.0 * min(p, q), 0.0, 1.0);
    vec3 kept = vec3(1.0), given = vec3(0.0);  // by the walls of each axis: the share of `value`, and theirs
#if RESTING & 1
    kept.x = nearer.x;
#else
#if NO_SLIP & 1
    kept.x = low.x, given.x = wall_velocity[0][axis] * (1.0 - low.x);
#endif
#if NO_SLIP & 2
    kept.x *= high.x, given.x = mix(wall_velocity[1][axis], given.x, high.x);
#endif
#endif
#if RESTING & 2
    kept.y = nearer.y;
#else
#if NO_SLIP & 4
    kept.y = low.y, given.y = wall_velocity[2][axis] * (1.0 - low.y);
#endif
#if NO_SLIP & 8
    kept.y *= high.y, given.y = mix(wall_velocity[3][axis], given.y, high.y);
#endif
#endif
#if RESTING & 4
    kept.z = nearer.z;
#else
#if NO_SLIP & 16
    kept.z = low.z, given.z = wall_velocity[4][axis] * (1.0 - low.z);
#endif
#if NO_SLIP & 32
    kept.z *= high.z, given.z = mix(wall_velocity[5][axis], given.z, high.z);
#endif
#endif
    kept[axis] = 1.0;
    value = value * kept.x * kept.y * kept.z;
#if NO_SLIP & ~RESTING_SIDES
    given[axis] = 0.0;
    value += 0.5 * dot(given, 1.0 + kept.yzx * kept.zxy);
#endif
#endif
    return value;
}
