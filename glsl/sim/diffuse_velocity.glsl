// One Jacobi sweep of u - fourier_number * laplacian(u) = before with cells of size 1, m/s. Faces.
// `latest` is the sweep before, `previous` the one before that, for Chebyshev's recurrence (Golub & Varga 1961):
// next = previous + weight * (sweep(latest) - previous). Written as a correction, which a smooth field rounds
// by its differences and not by its values.
#include "lib/solids.glsl"
#include "lib/face_laplacian.glsl" for latest

uniform float fourier_number;  // viscosity * dt / cell_size^2
uniform float weight;          // 1 and a relaxation of 1: plain Jacobi
uniform float relaxation;

void kernel(ivec3 here) {
    ivec3 face = home(here);
    vec3 u = vec3(0.0);
    if (ALL_WALLS == 0 || !past_cells(face)) {
        vec3 latest = fetch_latest(face).xyz, previous = fetch_previous(face).xyz;
        vec3 left = fetch_before(face).xyz - latest + fourier_number * laplacian_latest(face);
        vec3 change = relaxation * left / (1.0 + 2.0 * float(DIMENSIONS) * fourier_number);
        u = previous + weight * (latest - previous + change);
    }
    diffused_out = vec4(constrained(here, u), 0.0);
}
