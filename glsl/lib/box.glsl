// The box of cells. Given by Python: `cells` (count along x, y, z), `cell_size` (m), `DIMENSIONS` (2 or 3), and
// the sides: `periodic`, `open_low`, `open_high` by axis; sides that are neither are closed (walls, inflow) and
// move with `wall_velocity` (m/s; x-, x+, y-, y+, z-, z+). ALL_WALLS: nothing but walls.

const ivec3 X = ivec3(1, 0, 0), Y = ivec3(0, 1, 0), Z = ivec3(0, 0, 1);

ivec3 step_along(int axis) { return ivec3(axis == 0, axis == 1, axis == 2); }

// The nearest cell of the box.
ivec3 in_box(ivec3 cell) { return clamp(cell, ivec3(0), cells - 1); }

// The cell an index stands for that may lie a box away along a periodic axis; elsewhere beyond the sides it is none.
ivec3 wrapped(ivec3 cell) {
    ivec3 away = ivec3(lessThan(cell, ivec3(0))) - ivec3(greaterThanEqual(cell, cells));
    return cell + ivec3(periodic) * away * cells;
}

// The cell at an index, or the nearest where a side lies between.
ivec3 neighbour(ivec3 cell) { return in_box(wrapped(cell)); }

// What the difference of the two `neighbour`s of a cell is to be taken times, for a slope over two cells: 2 beside a
// side, where it reaches over one.
vec3 reach_over(ivec3 cell) {
    vec3 sides = vec3(equal(cell, ivec3(0))) + vec3(equal(cell, cells - 1));
    return 1.0 + sides * vec3(not(periodic));
}

// The centre of the low face of `face` along `axis`, cells from the low corner.
vec3 face_center(ivec3 face, int axis) { return vec3(face) + 0.5 - 0.5 * vec3(step_along(axis)); }

// A face index past the last cell along some axis: a high side, or a stored value that is no face at all.
bool past_cells(ivec3 face) { return any(equal(face, cells)); }

// The face that `face` is: the high side of a periodic box is its low side.
ivec3 home(ivec3 face) { return face * (1 - ivec3(periodic) * ivec3(equal(face, cells))); }
