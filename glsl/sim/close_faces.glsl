// Which low faces of each cell are closed, and how fast what closes them moves. Faces.
// xyz: velocity, m/s; w: bit i is set where the low face along axis i is closed by a solid or a wall.
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
            vec4 above = high_side ? vec4(0.0) : fetch_solid(neighbour(here));
            vec4 below = low_side ? vec4(0.0) : fetch_solid(neighbour(here - step));
            float solids = above.w + below.w;
            if (solids > 0.5) {
                closed[axis] = (above[axis] * above.w + below[axis] * below.w) / solids;
                closed.w += bit;
            }
        }
    }
    solid_faces_out = closed;
}
