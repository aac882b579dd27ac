// The velocity at cell centres, the mean of opposite faces, m/s, in half floats: what a file of volumes holds.
#include "lib/box.glsl"
#include "lib/nearest_half.glsl"

void kernel(ivec3 cell) {
    vec3 low = fetch_velocity(cell).xyz;
    vec3 high = vec3(fetch_velocity(cell + X).x, fetch_velocity(cell + Y).y, low.z);
#if DIMENSIONS == 3
    high.z = fetch_velocity(cell + Z).z;
#endif
    saved_out = nearest_half(vec4(0.5 * (low + high), 0.0));
}
