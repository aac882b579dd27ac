// Staggered velocity FIELD between its faces, monotone cubic; positions as in component.glsl.
#include "lib/cubic.glsl"
#include "lib/component.glsl" for FIELD

// x: component `axis` on a face, m/s; y: 1 where no solid closes the face. What a side of the box alone closes
// counts as open: a solid on the other side of the cell there closes the next face too.
vec2 face_FIELD(ivec3 face, int axis) {
    float open = 1.0;
#if SOLIDS
    bool in_side = !periodic[axis] && (face[axis] == 0 || face[axis] == cells[axis]);
    open = in_side || (int(fetch_solid_faces(face).w) >> axis & 1) == 0 ? 1.0 : 0.0;
#endif
    return vec2(fetch_FIELD(face)[axis], open);
}

vec2 between_FIELD(vec2 a, vec2 b, vec2 c, vec2 d, float share, float low_slope, float high_slope) {
    float value = monotone(a.x, b.x, c.x, d.x, share, low_slope, high_slope);
    return vec2(value, min(min(a.y, b.y), min(c.y, d.y)));
}

vec2 row_FIELD(CubicTaps at, int y, int z, int axis) {
    return between_FIELD(
        face_FIELD(ivec3(at.before.x, y, z), axis), face_FIELD(ivec3(at.low.x, y, z), axis),
        face_FIELD(ivec3(at.high.x, y, z), axis), face_FIELD(ivec3(at.after.x, y, z), axis),
        at.share.x, at.low_slope.x, at.high_slope.x);
}

vec2 slice_FIELD(CubicTaps at, int z, int axis) {
    return between_FIELD(
        row_FIELD(at, at.before.y, z, axis), row_FIELD(at, at.low.y, z, axis),
        row_FIELD(at, at.high.y, z, axis), row_FIELD(at, at.after.y, z, axis),
        at.share.y, at.low_slope.y, at.high_slope.y);
}

// Component `axis` at `p`, m/s. Where a solid closes one of its 4 x 4 x 4 faces it is trilinear.
float cubic_FIELD(vec3 p, int axis) {
    CubicTaps at = cubic_taps(p - 0.5 + 0.5 * vec3(step_along(axis)), cells + step_along(axis));
#if DIMENSIONS == 3
    vec2 before = vec2(0.0), low = before, high = before, after = before;
    for (int n = 0; n < 4; ++n) {  // a loop of slices is compiled in a quarter of the time of four
        before = low;
        low = high;
        high = after;
        after = slice_FIELD(at, slice_of(at, n), axis);
    }
    vec2 value = between_FIELD(before, low, high, after, at.share.z, at.low_slope.z, at.high_slope.z);
#else
    vec2 value = slice_FIELD(at, 0, axis);
#endif
#if SOLIDS
    if (value.y < 0.5) return component_FIELD(p, axis);
#endif
    return beside_walls(value.x, p, axis);
}
