// The velocity where each arrow stands (xyz, m/s); w: 1, or 0 in a solid and outside the box. A texel an arrow.
#include "lib/component.glsl" for velocity
#include "lib/quotient.glsl"
#include "render/kept_inside.glsl"

uniform ivec3 counts;        // arrows along x, y, z
uniform vec3 first, spacing; // cells
uniform int width;           // of the texture

out vec4 value_out;

void main() {
    int n = int(gl_FragCoord.x) + int(gl_FragCoord.y) * width;
    ivec3 at = counted(n, counts);
    vec3 p = first + vec3(at) * spacing;
    value_out = at.z >= counts.z || outside_box(p) || in_solid(p) ? vec4(0.0) : vec4(at_velocity(p), 1.0);
}
