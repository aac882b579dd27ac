// Buoyancy and vorticity confinement at cell centres, m/s^2.
#include "lib/confined.glsl"
#include "lib/lift.glsl"

void kernel(ivec3 cell) {
    vec3 growth = vec3(
        fetch_vorticity(neighbour(cell + X)).w - fetch_vorticity(neighbour(cell - X)).w,
        fetch_vorticity(neighbour(cell + Y)).w - fetch_vorticity(neighbour(cell - Y)).w, 0.0);
#if DIMENSIONS == 3
    growth.z = fetch_vorticity(neighbour(cell + Z)).w - fetch_vorticity(neighbour(cell - Z)).w;
#endif
    growth *= 0.5 * reach_over(cell);
    force_out = vec4(confined(fetch_vorticity(cell), growth) + lift(cell) * up, 0.0);
}
