// The divergence less the volume that burning gas makes, 1/s: the pressure then leaves that much of an outflow.
// Packed: four cells along x; 0 in solids, and in a cell that nothing opens, since no gas can leave it.
#include "lib/fluid_lanes.glsl"

uniform float expansion;  // share of a cell's volume made by one unit burnt

void kernel(ivec3 pack) {
    ivec4 x = min(4 * pack.x + ivec4(0, 1, 2, 3), cells.x - 1);
    vec4 flame = vec4(
        fetch_flame(ivec3(x.x, pack.yz)).x,
        fetch_flame(ivec3(x.y, pack.yz)).x,
        fetch_flame(ivec3(x.z, pack.yz)).x,
        fetch_flame(ivec3(x.w, pack.yz)).x
    );
    divergence_out = fetch_divergence(pack) - expansion * flame * fluid_lanes(pack);
}
