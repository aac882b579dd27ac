// The place of the floor in a pixel, cells of the box; whether there is one.
#include "render/floor_at.glsl"

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec2 picture_size;  // pixels

bool floor_here(out vec3 place) {
    vec2 p = 2.0 * gl_FragCoord.xy / picture_size - 1.0;
    vec3 origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    vec3 direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    place = vec3(0.0);
    if (!(direction.y < 0.0 && origin.y > floor_height)) return false;
    place = origin + floor_depth_on(origin, direction) * direction;
    return true;
}
