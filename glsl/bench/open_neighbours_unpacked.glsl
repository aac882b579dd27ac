// What the bench's baseline knows of solids: 1 in cells that hold fluid, 0 in solids. Cells, one to a texel.

void kernel(ivec3 cell) { openings_out = vec4(fetch_solid(cell).x < 0.5 ? 1.0 : 0.0); }
