// The values less their mean over the fluid cells; 0 elsewhere. Packed: four cells along x.
#include "lib/fluid_lanes.glsl"

void kernel(ivec3 pack) {
    vec4 sums = fetch_wholes(ivec3(0));  // of dot_rows: the third is the total, the fourth the number of cells
    balanced_out = mix(vec4(0.0), fetch_values(pack) - sums.z / max(sums.w, 1.0), greaterThan(fluid_lanes(pack), vec4(0.0)));
}
