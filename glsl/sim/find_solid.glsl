// Which cells are solid: 1 inside, of what the obstacles have been added to. Cells.
// By itself: what follows the flow, and pictures, read this for many places, and do not ask how fast a solid moves.

void kernel(ivec3 cell) { solid_out = vec4(fetch_solid_velocity(cell).w); }
