// What holds the fluid at rest beside walls and solids, viscosity, is to do so behind the projection, which is still to push
// it: until then it holds it at as much the other way, as far as the last pressure tells (Kim & Moin 1985). In
// u - fourier_number * laplacian(u) = before the mirror image of a face beyond them so has twice that more. It is known,
// and added to the right-hand side here. Faces, m/s.
#include "lib/solids.glsl"
#include "lib/mirrored.glsl"
#include "lib/pressure_rise.glsl"

uniform float gain;  // 2 fourier_number * the time that the pressure pushes / cell_size, s/m

void kernel(ivec3 here) {
    ivec3 face = home(here);
    vec3 u = fetch_velocity(face).xyz + gain * mirrored(face) * pressure_rise(face);
    velocity_out = vec4(constrained(here, u), 0.0);
}
