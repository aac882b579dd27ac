// The scalars with nothing left in cells that a solid has just come into. Cells.

void kernel(ivec3 cell) { scalars_out = fetch_scalars(cell) * (fetch_solid(cell).x > 0.5 ? 0.0 : 1.0); }
