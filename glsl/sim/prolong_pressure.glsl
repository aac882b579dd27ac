// The pressure over that of a grid with half as many cells along each axis, m^2/s^2: the same in all of a coarse cell.
// Packed: four cells along x.

void kernel(ivec3 pack) {
    vec4 four = fetch_coarse_pressure(pack / 2);
    pressure_out = (pack.x & 1) == 0 ? four.xxyy : four.zzww;
}
