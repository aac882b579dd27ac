// Buoyancy and the vorticity confinement of Fedkiw, Stam & Jensen (2001) at cell centres, m/s^2:
// strength * h * (N x omega), N the direction in which |omega| grows.
#include "lib/box.glsl"
#include "lib/lift.glsl"

uniform float strength;  // 1/s

void kernel(ivec3 cell) {
    vec3 growth = vec3(
        fetch_vorticity(neighbour(cell + X)).w - fetch_vorticity(neighbour(cell - X)).w,
        fetch_vorticity(neighbour(cell + Y)).w - fetch_vorticity(neighbour(cell - Y)).w, 0.0);
#if DIMENSIONS == 3
    growth.z = fetch_vorticity(neighbour(cell + Z)).w - fetch_vorticity(neighbour(cell - Z)).w;
#endif
    growth *= 0.5 * reach_over(cell);
    vec4 spin = fetch_vorticity(cell);
    vec3 towards = growth / (length(growth) + 1e-5 * spin.w + 1e-30);  // no direction where it grows by its rounding alone
    vec3 confinement = strength * cell_size * cross(towards, spin.xyz);
    force_out = vec4(confinement + lift(cell) * up, 0.0);
}
