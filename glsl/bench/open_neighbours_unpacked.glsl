// What the bench's baseline knows of solids: 1 in cells that hold fluid, 0 in solids, which have all faces closed. Cells, one
// to a texel.
#include "lib/box.glsl"

void kernel(ivec3 cell) {
    int closed = 7 & int(fetch_solid_faces(cell).w);
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        if ((int(fetch_solid_faces(cell + step_along(axis)).w) >> axis & 1) == 0) closed = 0;
    openings_out = vec4(closed == 7 ? 0.0 : 1.0);
}
