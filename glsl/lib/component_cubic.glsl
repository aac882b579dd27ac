// Staggered velocity FIELD between its faces, monotone cubic; positions as in component.glsl.
#include "lib/component.glsl" for FIELD

// Component `axis` on a face, m/s, and 1 where no solid closes the face. What a side of the box alone closes
// counts as open: a solid on the other side of the cell there closes the next face too.
vec4 read_FIELD(ivec3 face, int axis) {
    float open = 1.0;
#if SOLIDS
    bool in_side = !periodic[axis] && (face[axis] == 0 || face[axis] == cells[axis]);
    open = in_side || (int(fetch_solid_faces(face).w) >> axis & 1) == 0 ? 1.0 : 0.0;
#endif
    return vec4(fetch_FIELD(face)[axis], 0.0, 0.0, open);
}

#include "lib/tricubic.glsl" for FIELD

// Component `axis` at `p`, m/s. Where a solid closes one of the 32 faces it is trilinear.
float cubic_FIELD(vec3 p, int axis) {
    vec4 value = tricubic_FIELD(p - 0.5 + 0.5 * vec3(step_along(axis)), cells + step_along(axis), axis);
#if SOLIDS
    if (value.w < 0.5) return component_FIELD(p, axis);
#endif
    return beside_walls(value.x, p, axis);
}
