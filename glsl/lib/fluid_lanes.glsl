// Which of four packed cells are fluid: 1, and 0 in a cell without an open neighbour and past the end of a row.
#include "lib/box.glsl"

vec4 fluid_lanes(ivec3 pack) {
#if SOLIDS
    ivec4 open = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    return vec4(notEqual(open & 63, ivec4(0)));
#else
    return vec4(lessThan(4 * pack.x + ivec4(0, 1, 2, 3), ivec4(cells.x)));
#endif
}
