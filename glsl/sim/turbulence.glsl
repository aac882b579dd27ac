// Velocity after a step of turbulence, m/s: a sum of random waves (Kraichnan 1970, Diffusion by a Random Velocity
// Field). Faces.
#include "lib/solids.glsl"
#include "lib/turns.glsl"

// Three vec4 a wave: its vector (1/m) and phase at the low corner of the box; what its cosine and its sine in the
// middle of a cell push the cell's low faces by (m/s)
uniform vec4 waves[3 * WAVES];

void kernel(ivec3 face) {
    vec3 u = fetch_velocity(face).xyz, p = (vec3(home(face)) + 0.5) * cell_size;
    int n = 0;
    do {
        vec4 wave = waves[3 * n];
        float phase = dot(wave.xyz, p) + wave.w;
        u += cos(phase) * waves[3 * n + 1].xyz + sin(phase) * waves[3 * n + 2].xyz;
    } while (++n < turns(WAVES));
    velocity_out = vec4(constrained(face, u), 0.0);
}
