// Cell-centred FIELD between its centres, monotone cubic; positions as in cell_sample.glsl.
#include "lib/cell_sample.glsl" for FIELD

#define read_FIELD(cell, axis) fetch_FIELD(cell)
#include "lib/tricubic.glsl" for FIELD

// The value at `p`. Where one of the 32 cells is solid it is the trilinear mean of what can be reached.
vec4 cubic_FIELD(vec3 p) {
    vec4 value = tricubic_FIELD(p - 0.5, cells, 0);
#if SOLIDS
    if (value.w < 0.5) return sample_FIELD(p);
#endif
    return value;
}
