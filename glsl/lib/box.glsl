// The box of cells. Given by Python: `cells` (count along x, y, z), `cell_size` (m), `DIMENSIONS` (2 or 3).

const ivec3 X = ivec3(1, 0, 0), Y = ivec3(0, 1, 0), Z = ivec3(0, 0, 1);

ivec3 step_along(int axis) { return ivec3(axis == 0, axis == 1, axis == 2); }

// The nearest cell of the box.
ivec3 in_box(ivec3 cell) { return clamp(cell, ivec3(0), cells - 1); }

// A face index past the last cell along some axis: a high wall, or a stored value that is no face at all.
bool past_cells(ivec3 face) { return any(equal(face, cells)); }
