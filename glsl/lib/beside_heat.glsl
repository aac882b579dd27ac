// Of the solids with a temperature that share faces with a cell: its mean, their rate (1/s), and how many faces. Cells.
// The rate is that of a cell with one face, their mean, times the surface that a cell touches: slanted ones are stairs
// whose cells touch 2 or 3 faces, and the surface in such a cell is sqrt(2) or sqrt(3) times as large as a face.
#include "lib/box.glsl"

vec3 beside_heat(ivec3 cell) {
    vec3 sum = vec3(0.0), faces = vec3(0.0);  // faces: along each axis
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec4 low = fetch_marks(neighbour(cell - step_along(axis))), high = fetch_marks(neighbour(cell + step_along(axis)));
        sum += low.xyw + high.xyw;
        faces[axis] = low.w + high.w;
    }
    return sum.z > 0.0 ? vec3(sum.x / sum.z, sum.y / sum.z * length(faces), sum.z) : vec3(0.0);
}
