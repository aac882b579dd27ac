// The surface of an obstacle, lit to be read.
#include "render/scene_depth.glsl"
#include "render/plain_light.glsl"

uniform vec3 eye;         // cells; or, with a parallel projection, the way to the viewer
uniform bool parallel_view;
uniform vec3 color;

in vec3 place, facing;
out vec4 color_out;

void main() {
    if (hidden(gl_FragCoord.z)) discard;
    vec3 v = normalize(parallel_view ? eye : eye - place), n = normalize(facing);
    if (dot(n, v) < 0.0) n = normalize(n - 1.02 * dot(n, v) * v);  // a normal smoothed past the outline
    color_out = painted(plainly_lit(color, n, v), 1.0);
}
