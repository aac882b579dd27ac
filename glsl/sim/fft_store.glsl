// The pressure out of the transform, m^2/s^2. Packed: four cells along x.

void kernel(ivec3 pack) { pressure_out = fetch_transform(pack); }
