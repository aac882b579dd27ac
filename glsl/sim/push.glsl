// Velocity after a step of wind, vortices and attractors, m/s. Faces.
#include "lib/solids.glsl"
#include "lib/lost.glsl"
#if ANY_PERIODIC
#include "lib/boxes_off.glsl"
#endif

// Three vec4 a force: centre (m from the low corner), kind (0 wind, 1 vortex, 2 attractor); velocity of the
// wind (m/s) and rate times dt, or axis (unit) and push in this step (m/s); 1 / radius (1/m; 0: wind everywhere), and 1
// along the axes along which, where the box is periodic, the image of its centre counts that is nearest, else 0
uniform vec4 pushes[3 * PUSHES];
#if FEW
const int push_count = PUSHES;
#else
uniform int push_count;  // at least 1: the test comes last, a software renderer goes through a loop once before it knows
#endif

// s * exp((1 - s^2) / 2): 1 at the radius (s = 1), less on both sides.
float bell(float s) { return s * exp(0.5 * (1.0 - s * s)); }

vec3 pushed(int n, vec3 u, vec3 p) {
    vec4 place = pushes[3 * n], way = pushes[3 * n + 1];
    vec3 d = p - place.xyz;
#if ANY_PERIODIC
    d -= vec3(periodic) * pushes[3 * n + 2].yzw * boxes_off(d, vec3(cells) * cell_size);
#endif
#if DIMENSIONS == 2
    d.z = 0.0;
#endif
    float scale = pushes[3 * n + 2].x;
    if (place.w < 0.5) return mix(u, way.xyz, lost(way.w * exp(-0.5 * scale * scale * dot(d, d))));
    vec3 turn = place.w < 1.5 ? cross(way.xyz, d) : -d;
    float off = place.w < 1.5 ? length(d - dot(d, way.xyz) * way.xyz) : length(d);
    return u + way.w * bell(off * scale) / max(off, 1e-6 / scale) * turn;
}

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec3 p = face_center(home(face), axis) * cell_size;
        vec3 now = u;
        int n = 0;
        do now[axis] = pushed(n, now, p)[axis]; while (++n < push_count);
        u[axis] = now[axis];
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
