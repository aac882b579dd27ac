// Values apart in four quarters by whether y and z are even or odd: those of y + 2 z, each by itself 0 or 1. Packed:
// four cells along x. Past the box 0.

void kernel(ivec3 at) {
    for (int n = 0; n < 4; ++n) {
        ivec3 pack = ivec3(at.x, 2 * at.y + (n & 1), 2 * at.z + (n >> 1));
        quarters_out[n] = pack.y < cells.y && pack.z < cells.z ? fetch_values(pack) : vec4(0.0);
    }
}
