// Adds density and fuel and sets temperature by the share of each cell in one source. Cells.
#include "lib/emitter.glsl"

void kernel(ivec3 cell) {
    vec3 p = (vec3(cell) + 0.5) * cell_size;
    scalars_out = with_emitted(0, fetch_mask(cell).x * flicker(0, p), fetch_scalars(cell));
}
