// Adds density and sets temperature where the emitters are. Cells.
#include "lib/emitter.glsl"
// third vec4 of an emitter: density added in this step, temperature, 1 where it sets the temperature

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 p = (vec3(cell) + 0.5) * cell_size;
    for (int n = 0; n < emitter_count; ++n) {
        vec4 values = emitters[4 * n + 2];
        float weight = emitter_weight(n, p) * here.w;
        here.x += weight * values.x;
        here.y = mix(here.y, values.y, weight * values.z);
    }
    scalars_out = here;
}
