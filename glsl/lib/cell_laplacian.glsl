// cell_size^2 times the Laplacian of density, temperature and fuel in the cell-centred FIELD.
// Solid cells, which hold 0 in the last channel, let nothing in or out.
#include "lib/beyond.glsl"

vec3 passed_FIELD(ivec3 beside, vec3 own) {
    vec4 there = fetch_FIELD(beside);
#if SOLIDS
    if (there.w < 0.5) return vec3(0.0);
#endif
    return there.xyz - own;
}

vec3 laplacian_FIELD(ivec3 cell) {
    ivec3 last = cells - 1;
    vec3 own = fetch_FIELD(cell).xyz;
    vec3 sum = cell.x == 0 ? scalars_beyond(0, own) - own : passed_FIELD(cell - X, own);
    sum += cell.x == last.x ? scalars_beyond(1, own) - own : passed_FIELD(cell + X, own);
    sum += cell.y == 0 ? scalars_beyond(2, own) - own : passed_FIELD(cell - Y, own);
    sum += cell.y == last.y ? scalars_beyond(3, own) - own : passed_FIELD(cell + Y, own);
#if DIMENSIONS == 3
    sum += cell.z == 0 ? scalars_beyond(4, own) - own : passed_FIELD(cell - Z, own);
    sum += cell.z == last.z ? scalars_beyond(5, own) - own : passed_FIELD(cell + Z, own);
#endif
    return sum;
}
