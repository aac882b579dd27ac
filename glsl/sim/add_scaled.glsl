// own * values + factor * other. Packed: four cells along x.

uniform float own;
uniform float factor;

void kernel(ivec3 pack) { values_out = own * fetch_values(pack) + factor * fetch_other(pack); }
