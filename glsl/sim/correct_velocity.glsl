// Second half of MacCormack (Selle, Fedkiw, Kim, Liu & Rossignac 2008) for FIELD, the velocity itself or one that was
// reflected, m/s. Faces. `predicted` is what predict_velocity makes of it; carrying it back shows half of that pass's
// error.
#include "lib/solids.glsl"
#include "lib/trace.glsl"
#include "lib/component.glsl" for predicted_0
#include "lib/limiter.glsl"

uniform float dt;  // s

void kernel(ivec3 here) {
    ivec3 face = home(here);
    Faces to = trace_faces(face, face_velocities(face), -dt);
    vec4 plain = fetch_predicted_0(face), low = fetch_predicted_1(face), high = fetch_predicted_2(face);
    vec3 returned = vec3(component_predicted_0(to.x, 0), component_predicted_0(to.y, 1), 0.0);
#if DIMENSIONS == 3
    returned.z = component_predicted_0(to.z, 2);
#endif
    vec3 carried = limited(plain.xyz + 0.5 * (fetch_FIELD(face).xyz - returned), plain.xyz, low.xyz, high.xyz);
#if !ALL_WALLS
    // what still air takes away is no error
    carried = mix(plain.xyz, carried, greaterThan(vec3(plain.w, low.w, high.w), vec3(0.999)));
#endif
    velocity_out = vec4(constrained(here, carried), 0.0);
}
