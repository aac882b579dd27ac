// What stands behind everything: the studio, the sky, a plate or a plain colour, and a matt floor that fades into it. On
// nothing the floor is what its shadow takes away, on a plate what all light but the sun's and the sky's adds too.
// FLOOR 0: where none can be seen. DEPTHLESS: its depth is written by itself. GATHERED: a floor about several boxes.
// Linear radiance, premultiplied; depth.
#include "lib/box.glsl"
#include "render/lit.glsl"
#include "render/backdrop.glsl"
#include "render/sky.glsl"
#if FLOOR
#include "render/floor_at.glsl"
#endif
#if PLATE
#include "render/plate.glsl"
#endif

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec4 depth_scale;   // depth in m = (x z + y) / (z z + w) at depth z, -1 .. 1, of the picture
uniform vec2 picture_size;  // pixels
uniform int backdrop_kind;  // 0: `plain`, 1: the studio, 2: the sky
uniform vec4 plain;
#if !GATHERED
uniform float brightest;    // that the picture holds: a half float beyond would be infinite, and that times 0 is NaN
#endif
#if FLOOR
uniform vec3 floor_color;   // its albedo
uniform bool own_color;     // before a plain colour too
#endif

out vec4 color_out;

#if FLOOR
// How the floor's place at `depth` of a ray along `direction` moves from pixel to pixel: 1: to the right, 2: up.
vec3 moved(int way, float depth, vec3 direction) {
    vec3 aside = (ray_origin[way] + depth * ray_direction[way]) * (2.0 / picture_size[way - 1]);
    return aside - direction * (aside.y / direction.y);
}
#endif

void main() {
    vec2 picture = gl_FragCoord.xy / picture_size, p = 2.0 * picture - 1.0;
#if !DEPTHLESS
    gl_FragDepth = 1.0;
#endif
    vec3 origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    vec3 direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    vec4 color = plain;
    if (backdrop_kind == 1) color = vec4(backdrop(picture, picture_size.x / picture_size.y), 1.0);
    if (backdrop_kind == 2) color = vec4(sky(normalize(direction)), 1.0);
#if PLATE
    color = vec4(plate_at(picture), 1.0);
#endif
#if FLOOR
    if (direction.y < 0.0 && origin.y > floor_height) {
        float depth = floor_depth_on(origin, direction);
        vec3 place = origin + depth * direction;
#if GATHERED
        float there = 1.0 - gathered(floor_shares).z;
#else
        float there = 1.0 - beyond_floor(place);
#endif
        if (there > 0.0) {
            vec3 right = moved(1, depth, direction), up = moved(2, depth, direction);
            Lit lit = light_on(Spot(place, vec3(0.0, 1.0, 0.0), right, up, 0.0), vec3(0.0, 1.0, 0.0));
            vec3 light = lit.sun + lit.lamps + lit.around;
            vec3 full = sun_color * max(-sun_direction.y, 0.0) + ambient * (0.35 + 0.65), albedo = floor_color;
            // before a plain colour the floor is of it: where all light arrives it cannot be told from it
            if (backdrop_kind == 0 && !own_color) albedo = max(albedo, min(plain.rgb / max(full, 1e-6), 1.0));
            vec4 ground = vec4(albedo * light, 1.0);
#if PLATE
            // what the picture shows is lit by sun and sky as it is; where that is nothing, it stays
            ground.rgb = color.rgb * (light + 1e-3) / (full + 1e-3);
#else
            if (backdrop_kind == 0 && plain.w == 0.0) {
#if OTHERS
                for (int k = 0; k < OTHERS; ++k) {
                    vec3 towards = towards_other(k, place);
                    full += strength_of_other(k, towards) * max(towards.y, 0.0) / max(length(towards), 1e-6);
                }
#endif
                float whole = dot(full, vec3(1.0)), left = dot(light, vec3(1.0));
                ground = vec4(0.0, 0.0, 0.0, whole > 0.0 ? max(1.0 - left / whole, 0.0) : 0.0);
            }
#endif
            color = mix(color, ground, there);
#if !DEPTHLESS
            float z = (depth_scale.y - depth_scale.w * depth) / (depth_scale.z * depth - depth_scale.x);
            gl_FragDepth = clamp(0.5 + 0.5 * z, 0.0, 1.0);
#endif
        }
    }
#endif
    color_out = vec4(min(color.rgb, brightest), color.a);
}
