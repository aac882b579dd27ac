// End of BFECC (Dupont & Liu 2003): the compensated scalars carried along the velocity, held to the values the
// scalars had round the place they come from. Cells; solids hold 0.
#include "lib/was_fluid.glsl"
#include "lib/center_velocity.glsl"
#include "lib/trace.glsl"
#include "lib/cell_sample.glsl" for compensated
#include "lib/cell_bounds.glsl" for scalars
#include "lib/limiter.glsl"
#include "lib/uncovered.glsl"
#include "lib/entering.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    look_back(fetch_scalars(cell));
    vec3 from = trace(vec3(cell) + 0.5, center_velocity(cell), dt);
    vec3 value = uncovered(sample_compensated(from));
#if LIMITER
    vec3 plain = uncovered(sample_scalars(from));
    Bounds bounds = bounds_scalars(from, plain);
    if (bounds.low.w <= bounds.high.w)
        value = limited(value, plain, bounds.low.xyz, bounds.high.xyz);
#endif
    enters(from, value);
    scalars_out = vec4(faded(value), 1.0);
#if SOLIDS
    if (fetch_solid(cell).x > 0.5) scalars_out = vec4(0.0);
#endif
}
