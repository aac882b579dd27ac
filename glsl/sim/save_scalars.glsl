// What cells hold, in half floats: three scalars or colours, and 1 in solids. What a file of volumes holds.
#include "lib/nearest_half.glsl"

void kernel(ivec3 cell) {
    saved_out = nearest_half(vec4(fetch_scalars(cell).xyz, 0.0));
#if SOLIDS
    saved_out.w = fetch_solid(cell).x;
#endif
}
