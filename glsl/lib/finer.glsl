// The next finer grid seen from a coarse one: its cells, and what their faces let through.
#include "lib/box.glsl"

uniform ivec3 finest;  // cells of the finest grid
uniform int stride;    // finest cells that a cell here is wide, but for the last of a row

int count_of(int n, int s) { return (n + s - 1) / s; }

// Cells of the finer grid along an axis.
int finer_cells(int axis) { return count_of(finest[axis], stride / 2); }

#if WEIGHTED
float lane(vec4 pack, int x) { return pack[x & 3]; }

// Of the low face of a finer cell along an axis, or the sum.
float fine_weight(ivec3 fine, int which) {
    ivec3 pack = ivec3(fine.x >> 2, fine.yz);
    if (which == 0) return lane(fetch_fine_weights_x(pack), fine.x);
    if (which == 1) return lane(fetch_fine_weights_y(pack), fine.x);
    if (which == 2) return lane(fetch_fine_weights_z(pack), fine.x);
    return lane(fetch_fine_weights_sum(pack), fine.x);
}
#else
// Bit by side: whether the neighbour there is open.
int open_sides(ivec3 cell) {
#if SOLIDS
    return int(fetch_openings(ivec3(cell.x / 4, cell.yz)).x) >> (6 * (cell.x % 4)) & 63;
#else
    return 63;
#endif
}
#endif
