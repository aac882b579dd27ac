// Velocity after a step of turbulence, m/s: a sum of random waves (Kraichnan 1970, Diffusion by a Random Velocity
// Field). Faces.
#include "lib/solids.glsl"
#include "lib/turns.glsl"
#if ANY_PERIODIC
#include "lib/boxes_off.glsl"
#endif

// Three vec4 a wave: its vector (1/m) and phase at the low corner of the box; what its cosine and its sine in the
// middle of a cell push the cell's low faces by (m/s)
uniform vec4 waves[3 * WAVES];
uniform vec4 middle;  // where they push most (m from the low corner), 1 / radius (1/m); 0: everywhere alike

void kernel(ivec3 face) {
    vec3 p = (vec3(home(face)) + 0.5) * cell_size, push = vec3(0.0);
    int n = 0;
    do {
        vec4 wave = waves[3 * n];
        float phase = dot(wave.xyz, p) + wave.w;
        push += cos(phase) * waves[3 * n + 1].xyz + sin(phase) * waves[3 * n + 2].xyz;
    } while (++n < turns(WAVES));
    vec3 d = p - middle.xyz;
#if ANY_PERIODIC
    d -= vec3(periodic) * boxes_off(d, vec3(cells) * cell_size);
#endif
#if DIMENSIONS == 2
    d.z = 0.0;
#endif
    vec3 off2 = dot(d, d) - cell_size * d + 0.25 * cell_size * cell_size;  // of the low face along each axis
    push *= exp(-0.5 * middle.w * middle.w * max(off2, 0.0));
    velocity_out = vec4(constrained(face, fetch_velocity(face).xyz + push), 0.0);
}
