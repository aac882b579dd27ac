// Which of the eight cells round a place can be reached from the one it lies in without crossing a solid.

// fluid, result: bit x + 2 y + 4 z for the cell at the low (0) or high (1) index of each axis. Corners that
// only touch behind solids do not count: smoke on the other side of a thin or slanting wall is not seen.
// share: of the way from the low to the high index, where the place is. In a solid all fluid counts.
int reachable(int fluid, vec3 share) {
    ivec3 nearest = ivec3(greaterThanEqual(share, vec3(0.5)));
    int found = fluid & 1 << (nearest.x + 2 * nearest.y + 4 * nearest.z);
    for (int n = 0; n < DIMENSIONS; ++n) {
        found |= (found & 0x55) << 1 | (found & 0xAA) >> 1;
        found &= fluid;
        found |= (found & 0x33) << 2 | (found & 0xCC) >> 2;
        found &= fluid;
        found |= (found & 0x0F) << 4 | (found & 0xF0) >> 4;
        found &= fluid;
    }
    return found == 0 ? fluid : found;
}
