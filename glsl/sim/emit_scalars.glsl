// Adds density and fuel and sets temperature where the emitters are. Cells.
#include "lib/emitter.glsl"

uniform int emitter_count;

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 p = (vec3(cell) + 0.5) * cell_size;
    for (int n = 0; n < emitter_count; ++n) here = with_emitted(n, emitter_weight(n, p), here);
    scalars_out = here;
}
