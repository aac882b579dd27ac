// The velocity over that of a grid with half as many cells along each axis, m/s. Faces.
// On a coarse face it is linear, with that face's own mean; in a coarse cell halfway between opposite faces, and
// pushed by as much as leaves each of the finer cells the divergence of the coarse one (Toth & Roe 2002).
#include "lib/solids.glsl"

// What lies at `side` (1 or -1 along each axis) of its middle on a coarse face. from: see face_slopes.glsl.
float on_face(vec4 from, vec2 side) {
#if DIMENSIONS == 2
    side.y = 0.0;
#endif
    return from.x + dot(from.yz, side);
}

void kernel(ivec3 face) {
    ivec3 low = face / 2, odd = face - 2 * low;
    ivec3 next = low + odd;  // itself where the face lies on a coarse one
    vec3 side = vec3(2 * odd - 1);
    vec4 x = fetch_slopes_0(low), y = fetch_slopes_1(low);
    vec3 u = vec3(on_face(x, side.yz), on_face(y, side.xz), 0.0), push = vec3(x.w, y.w, 0.0);
    vec3 v = vec3(on_face(fetch_slopes_0(ivec3(next.x, low.yz)), side.yz),
                  on_face(fetch_slopes_1(ivec3(low.x, next.y, low.z)), side.xz), 0.0);
#if DIMENSIONS == 3
    vec4 z = fetch_slopes_2(low);
    u.z = on_face(z, side.xy), push.z = z.w;
    v.z = on_face(fetch_slopes_2(ivec3(low.xy, next.z)), side.xy);
#endif
    velocity_out = vec4(constrained(face, 0.5 * (u + v) + vec3(odd) * push), 0.0);
}
