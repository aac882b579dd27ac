// How many workgroups along x, y and z there are for all strips that are listed, GROUPS_ACROSS in a row.
#include "lib/box.glsl"
#include "lib/turns.glsl"

out uvec4 groups_out;

void main() {
    uint all_of_them = 0u;
    int slice = 0;
    do all_of_them += uint(fetch_counts(ivec3(0, 0, slice)).x + 0.5); while (++slice < turns(deep_extent.z));
    groups_out = uvec4(min(all_of_them, uint(GROUPS_ACROSS)), (all_of_them + uint(GROUPS_ACROSS - 1)) / uint(GROUPS_ACROSS), 1u, 0u);
}
