// Middle of BFECC (Dupont & Liu 2003; Kim, Liu, Llamas & Rossignac 2007): density, temperature and fuel with the
// error that carrying them there and back makes taken off beforehand. Cells. `forward` is `scalars` carried once.
#include "lib/center_velocity.glsl"
#include "lib/trace.glsl"
#include "lib/cell_sample.glsl" for forward

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec4 before = fetch_scalars(cell);
    vec3 returned = sample_forward(trace(vec3(cell) + 0.5, center_velocity(cell), -dt)).xyz;
    compensated_out = vec4(1.5 * before.xyz - 0.5 * returned, 1.0);
#if SOLIDS
    if (before.w < 0.5) compensated_out = before;
#endif
}
