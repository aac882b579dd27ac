// The velocity where each arrow stands (xyz, m/s); w: 1, or 0 in a solid and outside the box. A texel an arrow.
#include "lib/component.glsl" for velocity
#include "render/kept_inside.glsl"

uniform ivec3 counts;        // arrows along x, y, z
uniform vec3 first, spacing; // cells
uniform int width;           // of the texture

out vec4 value_out;

void main() {
    int n = int(gl_FragCoord.x) + int(gl_FragCoord.y) * width;
    ivec3 at = ivec3(n % counts.x, n / counts.x % counts.y, n / (counts.x * counts.y));
    vec3 p = first + vec3(at) * spacing;
    value_out = at.z >= counts.z || outside_box(p) || in_solid(p) ? vec4(0.0) : vec4(at_velocity(p), 1.0);
}
