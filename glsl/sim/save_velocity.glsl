// The velocity at cell centres, the mean of opposite faces, m/s, in half floats: what a file of volumes holds.
#include "lib/box.glsl"
#include "lib/center_velocity.glsl"
#include "lib/nearest_half.glsl"

void kernel(ivec3 cell) {
    saved_out = nearest_half(vec4(center_velocity(cell), 0.0));
}
