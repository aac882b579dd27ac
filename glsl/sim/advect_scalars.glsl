// Density, temperature and fuel carried along the velocity for `dt` seconds, semi-Lagrangian (Stam 1999).
// Cells; solids hold 0. CUBIC: the value there is monotone cubic, not trilinear; the path is the same.
#include "lib/was_fluid.glsl"
#include "lib/center_velocity.glsl"
#include "lib/trace.glsl"
#include "lib/cell_sample.glsl" for scalars
#include "lib/uncovered.glsl"
#include "lib/entering.glsl"
#if CUBIC
#include "lib/cell_cubic.glsl" for scalars
#endif

uniform float dt;  // s

void kernel(ivec3 cell) {
    look_back(fetch_scalars(cell));
    vec3 start = trace(vec3(cell) + 0.5, center_velocity(cell), dt);
#if CUBIC
    vec3 value = uncovered(cubic_scalars(start));
#else
    vec3 value = uncovered(sample_scalars(start));
#endif
    enters(start, value);
    carried_out = vec4(faded(value), 1.0);
#if SOLIDS
    if (fetch_solid(cell).x > 0.5) carried_out = vec4(0.0);
#endif
}
