// An arrow, lit to be read.
#include "render/color_map.glsl"
#include "render/scene_depth.glsl"
#include "render/plain_light.glsl"

uniform vec3 eye;         // cells; or, with a parallel projection, the way to the viewer
uniform bool parallel_view;

in vec3 place, facing;
flat in float value;
out vec4 color_out;

void main() {
    if (hidden(gl_FragCoord.z)) discard;
    vec3 color = mapped_color(value);
    vec3 v = normalize(parallel_view ? eye : eye - place);
    color_out = painted(plainly_lit(1.1 * color + 0.03, normalize(facing), v), 1.0);
}
