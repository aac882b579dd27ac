// Of the solids with a temperature that share faces with a cell: the sums of it and of their rates (1/s), and how many
// faces. Cells.
#include "lib/box.glsl"

vec3 beside_heat(ivec3 cell) {
    vec3 sum = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec4 low = fetch_marks(neighbour(cell - step_along(axis))), high = fetch_marks(neighbour(cell + step_along(axis)));
        sum += low.xyw + high.xyw;
    }
    return sum;
}
