// The scalars with the share `left`, of all four channels, in cells that a solid has just come into. Cells.

uniform float left;

void kernel(ivec3 cell) { scalars_out = fetch_scalars(cell) * (fetch_solid(cell).x > 0.5 ? left : 1.0); }
