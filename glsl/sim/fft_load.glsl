// scale * divergence in single precision, m^2/s^2: what the transform starts from. Packed: four cells along x.

uniform float scale;  // cell_size^2 / dt, m^2/s

void kernel(ivec3 pack) { transform_out = scale * fetch_divergence(pack); }
