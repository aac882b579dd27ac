// The closed faces, with those inside free-slip solids at the mean velocity of the faces beside them that touch fluid, m/s.
// What is interpolated beside such a solid then has no slope towards it. Faces; channels as in close_faces.
#include "lib/box.glsl"

// Adds component `axis` of a face, and 1, where the face touches fluid. It holds what closes it, if anything does.
void gather(ivec3 index, int axis, inout vec2 sum) {
    ivec3 face = wrapped(index);
    if (any(lessThan(face, ivec3(0))) || any(greaterThanEqual(face, cells + step_along(axis)))) return;
    vec4 closed = fetch_solid_faces(face);
    int bits = int(closed.w);
    if ((bits >> (6 + axis) & 1) == 0)
        sum += vec2((bits >> axis & 1) == 1 ? closed[axis] : fetch_velocity(face)[axis], 1.0);
}

// Of the faces across, along `a` and `b`; of the diagonal ones where none of those touches fluid; else `own`.
float beside(ivec3 face, int axis, ivec3 a, ivec3 b, float own) {
    vec2 sum = vec2(0.0);
    gather(face - a, axis, sum);
    gather(face + a, axis, sum);
#if DIMENSIONS == 3
    gather(face - b, axis, sum);
    gather(face + b, axis, sum);
    if (sum.y == 0.0) {
        gather(face - a - b, axis, sum);
        gather(face - a + b, axis, sum);
        gather(face + a - b, axis, sum);
        gather(face + a + b, axis, sum);
    }
#endif
    return sum.y > 0.0 ? sum.x / sum.y : own;
}

void kernel(ivec3 face) {
    vec4 closed = fetch_solid_faces(face);
    int inside = int(closed.w) >> 3;
    if ((inside & 1) != 0) closed.x = beside(face, 0, Y, Z, closed.x);
    if ((inside & 2) != 0) closed.y = beside(face, 1, X, Z, closed.y);
    if ((inside & 4) != 0) closed.z = beside(face, 2, X, Y, closed.z);
    slip_faces_out = closed;
}
