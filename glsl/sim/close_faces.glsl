// Which low faces of each cell are closed, and how fast what closes them moves. Faces.
// xyz: velocity, m/s; w: bit i is set where the low face along axis i is closed by a solid or a wall.
#include "lib/box.glsl"

void kernel(ivec3 face) {
    vec4 closed = vec4(0.0, 0.0, 0.0, 7.0);
    if (!past_cells(face)) {
        vec4 here = fetch_solid(face);
        closed.w = DIMENSIONS == 3 ? 0.0 : 4.0;
        for (int axis = 0; axis < DIMENSIONS; ++axis) {
            float bit = float(1 << axis);
            if (face[axis] == 0) {
                closed.w += bit;
                continue;
            }
            vec4 low = fetch_solid(face - step_along(axis));
            float solids = here.w + low.w;
            if (solids > 0.5) {
                closed[axis] = (here[axis] * here.w + low[axis] * low.w) / solids;
                closed.w += bit;
            }
        }
    }
    solid_faces_out = closed;
}
