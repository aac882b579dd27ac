// Second half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for density, temperature and fuel.
// `forward` is `scalars` after advect_scalars without fading. Cells; solids hold 0.
#include "lib/was_fluid.glsl"
#include "lib/center_velocity.glsl"
#include "lib/trace.glsl"
#include "lib/cell_sample.glsl" for forward
#include "lib/cell_bounds.glsl" for scalars
#include "lib/limiter.glsl"
#include "lib/fade.glsl"
#include "lib/entering.glsl"

uniform float dt;  // s

void kernel(ivec3 cell) {
    vec4 before = fetch_scalars(cell);
    vec3 start = vec3(cell) + 0.5, u = center_velocity(cell), to, from = start;
    int way = 0;
    do {  // forth, then back
        to = from;
        if (way == 1) look_back(before);
        from = trace(start, u, way == 0 ? -dt : dt);
    } while (++way < turns(2));
    vec3 plain = fetch_forward(cell).xyz;
    vec3 returned = sample_forward(to).xyz;
    vec3 value = plain + 0.5 * (before.xyz - returned);
#if SOLIDS
    // a cell that a moving solid has just left held nothing the error could be measured by
    if (before.w < 0.5) value = plain;
#endif
    vec3 brought = vec3(0.0);
#if LIMITER
    Bounds bounds = bounds_scalars(from, plain);
    // where nothing was found either there is nothing to hold it to
    value = bounds.low.w <= bounds.high.w ? limited(value, plain, bounds.low.xyz, bounds.high.xyz) : plain;
#endif
    if (enters(from, brought)) value = plain;
    scalars_out = vec4(faded(value), 1.0);
#if SOLIDS
    if (fetch_solid(cell).x > 0.5) scalars_out = vec4(0.0);
#endif
}
