// Which low faces of each cell are closed, and how fast what closes them moves. Faces.
// xyz: velocity, m/s; w: bit i is set where the low face along axis i is closed by a solid or a wall, bit i + 6 where
// it lies inside solids and touches no fluid, and bit i + 3 where all of those are free-slip.
#include "lib/box.glsl"

void kernel(ivec3 here) {
    vec4 closed = vec4(0.0, 0.0, 0.0, DIMENSIONS == 3 ? 0.0 : 4.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        ivec3 step = step_along(axis);
        float bit = float(1 << axis);
        bool low_side = here[axis] == 0 && !periodic[axis], high_side = here[axis] == cells[axis] && !periodic[axis];
        if (past_cells(here - step * (here[axis] / cells[axis]))) {
            closed.w += bit;  // no face
        } else if ((low_side && !open_low[axis]) || (high_side && !open_high[axis])) {
            closed[axis] = wall_velocity[2 * axis + int(high_side)][axis];
            closed.w += bit;
        } else {
            vec4 above = high_side ? vec4(0.0) : fetch_solid_velocity(neighbour(here));
            vec4 below = low_side ? vec4(0.0) : fetch_solid_velocity(neighbour(here - step));
            float solids = above.w + below.w;
            if (solids > 0.5) {
                closed[axis] = (above[axis] * above.w + below[axis] * below.w) / solids;
                closed.w += bit;
            }
            if ((high_side || above.w > 0.5) && (low_side || below.w > 0.5)) closed.w += 64.0 * bit;
#if SLIP
            float free_above = high_side ? 1.0 : fetch_marks(neighbour(here)).z * above.w;
            float free_below = low_side ? 1.0 : fetch_marks(neighbour(here - step)).z * below.w;
            if (min(free_above, free_below) > 0.5) closed.w += 8.0 * bit;
#endif
        }
    }
    solid_faces_out = closed;
}
