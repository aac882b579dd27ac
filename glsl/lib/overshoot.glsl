// How far half a sweep of over-relaxation (Young 1954) goes, as a share of what solves a cell: omega. Where an odd
// number of cells closes on itself two of one colour meet: over-relaxed both would overshoot.
#include "lib/box.glsl"

uniform float omega;   // in (0, 2); 1 is Gauss-Seidel

vec4 overshoot(ivec3 pack) {
    bvec3 odd = bvec3(periodic.x && cells.x % 2 == 1, periodic.y && cells.y % 2 == 1, periodic.z && cells.z % 2 == 1);
    vec4 factor = vec4(omega);
    bvec3 ends = bvec3(false, pack.y == 0 || pack.y == cells.y - 1, pack.z == 0 || pack.z == cells.z - 1);
    if ((odd.y && ends.y) || (odd.z && ends.z)) factor = min(factor, 1.0);
    if (odd.x) {
        ivec4 x = 4 * pack.x + ivec4(0, 1, 2, 3);
        factor = mix(factor, min(factor, 1.0), equal(x, ivec4(0)));
        factor = mix(factor, min(factor, 1.0), equal(x, ivec4(cells.x - 1)));
    }
    return factor;
}

// What of four packed cells has a colour: of 0 are cells whose x + y + z is even.
vec4 coloured(ivec3 pack, int colour, vec4 v) {
    return ((pack.y + pack.z + colour) & 1) == 0 ? vec4(v.x, 0.0, v.z, 0.0) : vec4(0.0, v.y, 0.0, v.w);
}
