// Velocity after a step of turbulence, m/s: a sum of random waves (Kraichnan 1970, Diffusion by a Random Velocity
// Field). Faces.
#include "lib/solids.glsl"
#include "lib/turns.glsl"
#if ANY_PERIODIC
#include "lib/boxes_off.glsl"
#endif

uniform vec4 waves[WAVES];            // their vectors (1/m) and phases at the low corner of the box
uniform vec3 wave_pushes[2 * WAVES];  // what the cosine and the sine in a cell's middle push its low faces by (m/s)
uniform vec4 middle;  // where they push most (m from the low corner), 1 / radius (1/m); 0: everywhere alike

void kernel(ivec3 face) {
    vec3 p = (vec3(home(face)) + 0.5) * cell_size, push = vec3(0.0);
    int n = 0;
    do {
        vec4 wave = waves[n];
        float phase = dot(wave.xyz, p) + wave.w;
        push += cos(phase) * wave_pushes[2 * n] + sin(phase) * wave_pushes[2 * n + 1];
    } while (++n < (FEW == 1 ? WAVES : turns(WAVES)));  // few are unrolled: an index into what is handed on costs
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
