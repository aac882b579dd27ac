// The next finer grid seen from a coarse one: its cells.

uniform ivec3 finest;  // cells of the finest grid
uniform int stride;    // finest cells that a cell here is wide, but for the last of a row

int count_of(int n, int s) { return (n + s - 1) / s; }

// Cells of the finer grid along an axis.
int finer_cells(int axis) { return count_of(finest[axis], stride / 2); }
