// The velocity at the centre of a cell, the mean of its faces, m/s.
#include "lib/box.glsl"

vec3 center_velocity(ivec3 cell) {
    vec3 low = fetch_velocity(cell).xyz;
    vec3 high = vec3(fetch_velocity(cell + X).x, fetch_velocity(cell + Y).y, low.z);
#if DIMENSIONS == 3
    high.z = fetch_velocity(cell + Z).z;
#endif
    return 0.5 * (low + high);
}
