// The light on the surfaces of solids in a pixel, and the share of it that they cover: of what those drawn later leave,
// which go over them. What several samples show alike is lit once. A pixel that shows several things has the mean of
// their light on the screen, but that of radiance on what is seen through. FIRE_ALONE: only what the
// fire of another box adds to it, of what is covered; ADDED: with all that such fires do.
#include "render/found.glsl"
#include "render/shown.glsl"
#include "render/solid_look.glsl"

uniform sampler2D materials;  // of each number, from 1 on, two texels: paint and sheen; emission
uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the picture's centre, and per x and y of it
uniform vec2 picture_size;    // pixels
uniform sampler2D behind;     // the picture so far
#if ADDED
uniform sampler2D added;      // radiance
#endif

out vec4 color_out;

const float ALIKE = 0.99;     // least cosine between normals
const float GRAZING = 0.02;   // the cosine below which a surface moves no further from pixel to pixel

vec4 material(float number, int n) {
    int at = 2 * int(number - 0.5) + n, wide = textureSize(materials, 0).x;
    return texelFetch(materials, ivec2(at % wide, at / wide), 0);
}

void main() {
    vec2 p = 2.0 * gl_FragCoord.xy / picture_size - 1.0;
    vec3 origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    vec3 direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    Four four = found();
    vec4 left = meant(four.numbers), others = step(numbers.y - 0.5, four.numbers);
    float all = 4.0 - dot(others, vec4(1.0)), covered = dot(left, vec4(1.0));
    vec3 sum = vec3(0.0), light = vec3(0.0);
    vec4 there = texelFetch(behind, ivec2(gl_FragCoord.xy), 0);
    vec3 low = covered < all ? there.rgb : vec3(1e30), high = covered < all ? there.rgb : vec3(0.0);
    float most = 0.0;
    int n = 0;
    do {
        vec4 one = four.surfaces[3];
        if (left.z > 0.0) one = four.surfaces[2];
        if (left.y > 0.0) one = four.surfaces[1];
        if (left.x > 0.0) one = four.surfaces[0];
        float number = length(one.xyz);
        vec3 right = (ray_origin[1] + one.w * ray_direction[1]) * (2.0 / picture_size.x);
        vec3 up = (ray_origin[2] + one.w * ray_direction[2]) * (2.0 / picture_size.y);
        // each is known in the middle of the pixel: those of one plane have one depth
        bvec4 level = lessThan(abs(transpose(four.surfaces)[3] - one.w), vec4(length(up) / length(direction)));
        bvec4 same = lessThan(abs(four.numbers - number), vec4(0.5));
        bvec4 turned = lessThan(one.xyz * mat4x3(four.surfaces), vec4(ALIKE * number * number));
        vec4 alike = left * vec4(level) * vec4(same) * vec4(not(turned));
        float count = dot(alike, vec4(1.0));
        vec4 mean = four.surfaces * alike / max(count, 1.0);
        vec3 facing = normalize(mean.xyz);
        float steep = dot(facing, direction), least = GRAZING * length(direction);
        steep = steep < 0.0 ? min(steep, -least) : max(steep, least);
        right -= direction * (dot(facing, right) / steep);
        up -= direction * (dot(facing, up) / steep);
        vec4 paint = material(number, 0);
        Matter matter = Matter(paint.xyz, paint.w, material(number, 1).xyz);
        vec3 look = solid_look(origin + mean.w * direction, facing, right, up, matter);
#if ADDED
        look += texelFetch(added, ivec2(gl_FragCoord.xy), 0).rgb;
#endif
        sum += count * look;
        light += count * shown(look);
        low = min(low, look);
        high = max(high, look);
        most = max(most, count);
        left -= alike;
    } while (left != vec4(0.0) && ++n < 4);
#if FIRE_ALONE
    color_out = vec4(sum / max(covered, 1.0), 0.0);
#else
    if (covered == 0.0) color_out = vec4(0.0);
    else if (most == 4.0 || covered < all && there.a < 0.999) color_out = vec4(sum, covered) / all;
    else color_out = vec4(radiance_shown_as((light + (all - covered) * shown(there.rgb)) / all, low, high), 1.0);
#endif
}
