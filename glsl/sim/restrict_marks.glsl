// The marks of solids on a grid with half as many cells along each axis: where fluid glides along one of the finer cells in
// a cell it glides along all of it. Cells; as in mark_obstacle.glsl, of which it has the third alone.

void kernel(ivec3 cell) {
    float free = 0.0;
    for (int n = 0; n < 1 << DIMENSIONS; ++n)
        free = max(free, fetch_fine_marks(2 * cell + ivec3(n & 1, n >> 1 & 1, n >> 2)).z);
    marks_out = vec4(0.0, 0.0, free, 0.0);
}
