// What passes through a face along an axis, m/s: nothing through a wall, whatever was written there. The face after the last
// of a periodic box is its first.
#include "lib/box.glsl"

float passing(ivec3 face, int axis) {
    bool wall = !periodic[axis] && (face[axis] == 0 && entering[2 * axis].x < 0.0
                                    || face[axis] == cells[axis] && entering[2 * axis + 1].x < 0.0);
    return wall ? 0.0 : fetch_velocity(home(face))[axis];
}
