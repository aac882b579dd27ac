// Depths in a picture whose solids are found first. Of the floor alone, wherever it is seen from; of the first sample of a
// pixel, and where that is the floor's of its middle; or marks of what of a pixel solids cover: 1: nothing, 0: all of it,
// that of the triangle itself: some.
#include "render/found.glsl"
#include "render/floor_ray.glsl"

uniform bool sampled, marks;
uniform sampler2DMS solid_depth;
uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the picture's centre, and per x and y of it
uniform vec2 picture_size;  // pixels
uniform vec2 floor_middle;  // cells
uniform vec3 floor_depth;   // of its plane, -1 .. 1: at the picture's lower left corner, per pixel of x, of y

const float ROUNDING = 2e-7;

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    float covered = 0.0;
    int n = 0;
    do covered += meant(vec4(length(texelFetch(surfaces, here, n).xyz))).x;
    while (++n < 4 && marks);
    float first = texelFetch(solid_depth, here, 0).x, middle = 0.5 + 0.5 * dot(floor_depth, vec3(1.0, gl_FragCoord.xy));
    if (abs(first - middle) <= 0.5 * (abs(floor_depth.y) + abs(floor_depth.z)) + ROUNDING) first = middle;
    vec2 p = 2.0 * gl_FragCoord.xy / picture_size - 1.0;
    vec3 origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    vec3 direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    float along = floor_along(origin, direction);
    bool seen = meets_floor(origin, direction) && floor_there(origin + along * direction, floor_middle) > 0.0;
    float depth = sampled ? first : seen ? in_picture(along) : 1.0;
    gl_FragDepth = !marks ? depth : covered == 0.0 ? 1.0 : covered < 4.0 ? gl_FragCoord.z : 0.0;
}
