// Second half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for the velocity, m/s. Faces.
// `forward` is `velocity` after advect_velocity; carrying it back shows half of that pass's error.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component.glsl" for forward
#include "lib/component_bounds.glsl" for velocity
#include "lib/limiter.glsl"

uniform float dt;  // s

// Its axis is a constant wherever it is called: of each texel one channel is then loaded.
float corrected_along(int axis, float before, float plain, vec3 to, vec3 from) {
    float value = plain + 0.5 * (before - component_forward(to, axis));
#if LIMITER
    vec2 bounds = bounds_velocity(from, axis);
    value = limited(value, plain, bounds.x, bounds.y);
#endif
    return mix(plain, value, still_air(from));
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces at = face_velocities(face), to, from = at;
    int way = 0;
    do {  // forth, then back
        to = from;
        from = trace_faces(face, at, way == 0 ? -dt : dt);
    } while (++way < turns(2));
    vec3 plain = fetch_forward(face).xyz, before = fetch_velocity(face).xyz;
    vec3 carried = vec3(corrected_along(0, before.x, plain.x, to.x, from.x),
                        corrected_along(1, before.y, plain.y, to.y, from.y), 0.0);
#if DIMENSIONS == 3
    carried.z = corrected_along(2, before.z, plain.z, to.z, from.z);
#endif
    velocity_out = vec4(constrained(here, carried), 0.0);
}
