// One Jacobi sweep of s - fourier_numbers * laplacian(s) = before with cells of size 1, for density, temperature
// and fuel. Cells; solids stay as they are. The recurrence is that of diffuse_velocity. A closed side or solid
// gives the cell's own value and the diagonal stays 1 + 2d * fourier_numbers: every sweep keeps the sum.
#include "lib/cell_laplacian.glsl" for latest

uniform vec3 fourier_numbers;  // diffusivity * dt / cell_size^2
uniform float weight;          // 1 and a relaxation of 1: plain Jacobi
uniform float relaxation;

vec4 swept_scalars(ivec3 cell, vec3 numbers) {
    vec4 latest = fetch_latest(cell);
    vec3 previous = fetch_previous(cell).xyz;
    vec3 left = fetch_before(cell).xyz - latest.xyz + numbers * laplacian_latest(cell);
    vec3 change = relaxation * left / (1.0 + 2.0 * float(DIMENSIONS) * numbers);
    vec4 swept = vec4(previous + weight * (latest.xyz - previous + change), latest.w);
#if SOLIDS
    if (latest.w < 0.5) swept = latest;
#endif
    return swept;
}
