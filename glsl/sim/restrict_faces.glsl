// Closes also those faces of a grid with half as many cells along each axis of which nothing is open: a solid that fills
// half of a cell or less may lie there. It moves as the finer faces do. Faces; as in close_faces.glsl.
#include "lib/box.glsl"

void kernel(ivec3 face) {
    vec4 closed = fetch_solid_faces(face);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        if ((int(closed.w) >> axis & 1) == 1) continue;
        ivec3 a = step_along(axis == 0 ? 1 : 0), b = step_along(axis == 2 ? 1 : 2);
        int bits = 511;
        float sum = 0.0;
        for (int n = 0; n < 1 << DIMENSIONS - 1; ++n) {
            vec4 there = fetch_fine_solid_faces(2 * face + (n & 1) * a + (n >> 1) * b);
            bits &= int(there.w);
            sum += there[axis];
        }
        if ((bits >> axis & 1) == 0) continue;
        closed[axis] = sum / float(1 << DIMENSIONS - 1);
        closed.w += float(bits & 9 << axis);
    }
    solid_faces_out = closed;
}
