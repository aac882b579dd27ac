// Adds density and fuel and sets temperature where the emitters are. Cells.
#include "lib/emitter.glsl"

uniform int emitter_count;  // at least 1: the test comes last, a software renderer goes through a loop once before it knows

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 p = (vec3(cell) + 0.5) * cell_size;
    float weight = 0.0;
    int n = 0;
    do {
        weight = with_image(n, weight, emitter_weight(n, p));
        here = with_emitted(n, weight, here);
    } while (++n < emitter_count);
    scalars_out = here;
}
