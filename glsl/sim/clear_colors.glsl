// No colour in any cell: in fluid as in solids, as the scalars tell these apart. Cells.

void kernel(ivec3 cell) { colors_out = vec4(0.0, 0.0, 0.0, fetch_scalars(cell).w); }
