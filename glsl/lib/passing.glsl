// What passes through faces, m/s: nothing through a wall, whatever was written there.
#include "lib/box.glsl"

bool is_wall(int side) { return !periodic[side / 2] && entering[side].x < 0.0; }

// Through a face along an axis; the one after the last of a periodic box is its first.
float passing(ivec3 face, int axis) {
    bool wall = face[axis] == 0 && is_wall(2 * axis) || face[axis] == cells[axis] && is_wall(2 * axis + 1);
    return wall ? 0.0 : fetch_velocity(home(face))[axis];
}

// Through the low faces of a cell.
vec3 passing_low(ivec3 cell) {
    vec3 flow = fetch_velocity(cell).xyz;
    for (int axis = 0; axis < 3; ++axis)
        if (axis >= DIMENSIONS || cell[axis] == 0 && is_wall(2 * axis)) flow[axis] = 0.0;
    return flow;
}
