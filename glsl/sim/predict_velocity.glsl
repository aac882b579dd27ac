// First half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for FIELD, the velocity itself or one that was
// reflected, m/s: carried along the velocity for `dt` seconds, and the least and the most that the limiter allows where
// it comes from, all that the second half needs of that place. Last channels: the share there that still_air.glsl
// leaves, for x, y and z. Faces.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/still_air.glsl"
#include "lib/component_bounds.glsl" for FIELD

uniform float dt;  // s

// Value, bounds and share. Its axis is a constant wherever it is called: of each texel one channel is then loaded.
vec4 predicted_along(ivec3 face, int axis, vec3 from) {
    float share = still_air(from, face, axis);
#if LIMITER
    vec3 value = bounded_FIELD(from, axis);
#else
    vec3 value = vec3(component_FIELD(from, axis), 0.0, 0.0);
#endif
    return vec4(share * value.x, value.yz, share);
}

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces from = trace_faces(face, face_velocities(face), dt);
    vec4 x = predicted_along(face, 0, from.x), y = predicted_along(face, 1, from.y), z = vec4(0.0);
#if DIMENSIONS == 3
    z = predicted_along(face, 2, from.z);
#endif
    vec3 share = constrained(here, vec3(x.w, y.w, z.w));
    predicted_out[0] = vec4(constrained(here, vec3(x.x, y.x, z.x)), share.x);
    predicted_out[1] = vec4(constrained(here, vec3(x.y, y.y, z.y)), share.y);
    predicted_out[2] = vec4(constrained(here, vec3(x.z, y.z, z.z)), share.z);
}
