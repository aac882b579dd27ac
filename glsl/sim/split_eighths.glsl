// Values apart in eight eighths, of every second row along y and every fourth slice: number (y mod 2) + 2 (z mod 4).
// Packed: four cells along x. Past the box 0.

void kernel(ivec3 at) {
    for (int n = 0; n < 8; ++n) {
        ivec3 pack = ivec3(at.x, 2 * at.y + (n & 1), 4 * at.z + (n >> 1));
        eighths_out[n] = pack.y < cells.y && pack.z < cells.z ? fetch_values(pack) : vec4(0.0);
    }
}
