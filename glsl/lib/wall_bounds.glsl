// The bounds of a limiter beside no-slip walls, whose velocity is one of the values that a sample there is made of.
#include "lib/box.glsl"
#include "lib/within_reach.glsl"

vec2 widened(vec2 bounds, float plain, float wall, float distance) {
    float allowed = mix(plain, wall, reach(1.0 - 2.0 * distance));
    return vec2(min(bounds.x, allowed), max(bounds.y, allowed));
}

vec2 bounds_beside_walls(vec2 bounds, float plain, vec3 p, int axis) {
#if NO_SLIP
    vec3 q = vec3(cells) - p, nearer = min(p, q);
#if RESTING & 1
    if (axis != 0) bounds = widened(bounds, plain, 0.0, nearer.x);
#else
#if NO_SLIP & 1
    if (axis != 0) bounds = widened(bounds, plain, wall_velocity[0][axis], p.x);
#endif
#if NO_SLIP & 2
    if (axis != 0) bounds = widened(bounds, plain, wall_velocity[1][axis], q.x);
#endif
#endif
#if RESTING & 2
    if (axis != 1) bounds = widened(bounds, plain, 0.0, nearer.y);
#else
#if NO_SLIP & 4
    if (axis != 1) bounds = widened(bounds, plain, wall_velocity[2][axis], p.y);
#endif
#if NO_SLIP & 8
    if (axis != 1) bounds = widened(bounds, plain, wall_velocity[3][axis], q.y);
#endif
#endif
#if RESTING & 4
    if (axis != 2) bounds = widened(bounds, plain, 0.0, nearer.z);
#else
#if NO_SLIP & 16
    if (axis != 2) bounds = widened(bounds, plain, wall_velocity[4][axis], p.z);
#endif
#if NO_SLIP & 32
    if (axis != 2) bounds = widened(bounds, plain, wall_velocity[5][axis], q.z);
#endif
#endif
#endif
    return bounds;
}
