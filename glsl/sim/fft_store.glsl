// The pressure out of the transform, m^2/s^2. Packed: four cells along x; 0 past the end of a row.
#include "lib/box.glsl"

void kernel(ivec3 pack) {
    bvec4 inside = lessThan(4 * pack.x + ivec4(0, 1, 2, 3), ivec4(cells.x));
    pressure_out = mix(vec4(0.0), fetch_transform(pack), inside);
}
