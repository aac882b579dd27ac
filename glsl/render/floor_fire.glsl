// Light that the fire of one of several boxes throws on the floor, to be added to that of the others: radiance of a white
// matt surface.
#include "lib/box.glsl"
#include "render/glow_at.glsl"
#include "render/floor_place.glsl"

uniform float brightest;  // that the picture holds

out vec4 fire_out;

void main() {
    vec3 place;
    fire_out = vec4(0.0);
    if (floor_here(place)) fire_out.xyz = min(glow_on(place, vec3(0.0, 1.0, 0.0)), brightest);
}
