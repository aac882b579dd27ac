// The scene seen through hot gas, which bends light towards the cold: each pixel shows what lies a little aside.
// The angle is strength times the temperature's slope across the view, summed along the way through the box. What lies close
// behind the gas moves less than the backdrop, by the share of the way that is left to it, and what the gas touches not at all.
#include "lib/between.glsl"
#include "lib/cell_sample.glsl" for scalars
#include "render/ray_box.glsl"

uniform sampler2D picture, scene_depth;
uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec4 depth_scale;   // depth of the picture z, -1 .. 1 -> m: (x z + y) / (z z + w)
uniform vec2 picture_size;  // pixels
uniform float strength;     // radians per temperature

const int STEPS = 24;

out vec4 color_out;

float temperature_at(vec3 place) { return sample_scalars(place).y; }

void main() {
    vec2 at = gl_FragCoord.xy / picture_size, p = 2.0 * at - 1.0;
    color_out = between(picture, at);
    vec3 origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    vec3 direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    vec2 way = between_corners(origin, divisible(direction), vec3(0.0), vec3(cells), 0.0);
    float z = 2.0 * textureLod(scene_depth, at, 0.0).x - 1.0;
    float scene = (depth_scale.x * z + depth_scale.y) / (depth_scale.z * z + depth_scale.w);
    float near = way.x, far = min(way.y, scene), to_scene = z < 1.0 ? 1.0 / scene : 0.0;
    if (!(far > near)) return;
    // across the view: the ways by which the picture's x and y turn a ray
    vec3 right = ray_direction[1] + ray_origin[1], up = ray_direction[2] + ray_origin[2];
    vec3 x = normalize(right), y = normalize(up);
    vec2 slope = vec2(0.0);
    for (int i = 0; i < STEPS; ++i) {
        float t = mix(near, far, (float(i) + 0.5) / float(STEPS));
        vec3 place = origin + t * direction;
        slope += (1.0 - t * to_scene) * vec2(temperature_at(place + x) - temperature_at(place - x),
                                             temperature_at(place + y) - temperature_at(place - y));
    }
    // a difference over two cells, times the way in cells: the temperature itself
    slope *= 0.5 * (far - near) * length(direction) / float(STEPS);
    vec2 aside = -strength * slope * length(direction) / vec2(length(right), length(up));
    color_out = between(picture, clamp(at + 0.5 * aside, 0.0, 1.0));
}
