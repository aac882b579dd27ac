// No-slip walls seen by a sample between the faces. Written out side by side: a loop over the sides reads
// positions and wall velocities by a running index, which costs a software renderer more than the sample.
// RESTING: axes, in bits, along which both walls hold the fluid at rest. Of these only the nearer one is seen.
#include "lib/box.glsl"

// `value` of velocity component `axis`, interpolated from inside the box alone, at `p` (cells). Within half
// a cell of a no-slip wall it falls linearly to the wall's own velocity, as a mirrored ghost cell makes it.
float beside_walls(float value, vec3 p, int axis) {
#if NO_SLIP
    vec3 q = vec3(cells) - p, low = clamp(2.0 * p, 0.0, 1.0), high = clamp(2.0 * q, 0.0, 1.0);
    vec3 nearer = clamp(2.0 * min(p, q), 0.0, 1.0);
#if RESTING & 1
    if (axis != 0) value *= nearer.x;
#else
#if NO_SLIP & 1
    if (axis != 0) value = mix(wall_velocity[0][axis], value, low.x);
#endif
#if NO_SLIP & 2
    if (axis != 0) value = mix(wall_velocity[1][axis], value, high.x);
#endif
#endif
#if RESTING & 2
    if (axis != 1) value *= nearer.y;
#else
#if NO_SLIP & 4
    if (axis != 1) value = mix(wall_velocity[2][axis], value, low.y);
#endif
#if NO_SLIP & 8
    if (axis != 1) value = mix(wall_velocity[3][axis], value, high.y);
#endif
#endif
#if RESTING & 4
    if (axis != 2) value *= nearer.z;
#else
#if NO_SLIP & 16
    if (axis != 2) value = mix(wall_velocity[4][axis], value, low.z);
#endif
#if NO_SLIP & 32
    if (axis != 2) value = mix(wall_velocity[5][axis], value, high.z);
#endif
#endif
#endif
    return value;
}
