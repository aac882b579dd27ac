// A solid's surface, lit as it is drawn. Linear radiance.
#include "render/solid_look.glsl"

uniform vec3 paint;
uniform float sheen;
uniform vec3 emission;

in vec3 place, facing;
out vec4 color_out;

void main() {
    vec3 look = solid_look(place, facing, dFdx(place), dFdy(place), Matter(paint, sheen, emission));
    color_out = vec4(look, FIRE_ALONE != 0 ? 0.0 : 1.0);
}
