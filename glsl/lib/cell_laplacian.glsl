// cell_size^2 times the Laplacian of density, temperature and fuel in the cell-centred FIELD.
// Solid cells, which hold 0 in the last channel, let nothing in or out.
#include "lib/box.glsl"
#include "lib/beyond.glsl"

vec3 passed_FIELD(ivec3 beside, vec3 own) {
    vec4 there = fetch_FIELD(beside);
#if SOLIDS
    if (there.w < 0.5) return vec3(0.0);
#endif
    return there.xyz - own;
}

vec3 beside_FIELD(ivec3 cell, int axis, int way, vec3 own) {
    ivec3 at = wrapped(cell + way * step_along(axis));
    if (at != in_box(at)) return scalars_beyond(2 * axis + int(way > 0), own) - own;
    return passed_FIELD(at, own);
}

vec3 laplacian_FIELD(ivec3 cell) {
    vec3 own = fetch_FIELD(cell).xyz;
    vec3 sum = beside_FIELD(cell, 0, -1, own) + beside_FIELD(cell, 0, 1, own)
             + beside_FIELD(cell, 1, -1, own) + beside_FIELD(cell, 1, 1, own);
#if DIMENSIONS == 3
    sum += beside_FIELD(cell, 2, -1, own) + beside_FIELD(cell, 2, 1, own);
#endif
    return sum;
}
