// The surface where `shown` has the value `level`: marched along the ray, then refined by regula falsi. The box is
// cut open: where the ray enters it above the level, its side is drawn.
#include "lib/cell_sample.glsl" for shown
#include "render/view_ray.glsl"
#include "render/scene_depth.glsl"
#include "render/plain_light.glsl"

uniform float level, stride;   // stride: cells
uniform vec3 color;

out vec4 color_out;

const int MARCH = 2048, REFINE = 6;
const float HALF = 0.75;       // cells to either side for a gradient

float value(vec3 p) { return sample_shown(p).x - level; }

void main() {
    Ray ray = view_ray();
    vec2 way = overlap(ray, vec3(0.0), vec3(cells));
    if (!(way.y > way.x)) discard;
    float speed = length(ray.direction), step_size = max(stride / speed, (way.y - way.x) / float(MARCH - 1));
    vec3 forth = ray.direction / speed;
    float a = way.x, value_a = value(ray.origin + a * ray.direction), at = a;
    vec3 n;
    if (value_a >= 0.0) {
        vec3 q = abs((ray.origin + a * ray.direction) / vec3(cells) - 0.5);
        n = way.x <= nearest ? -forth : -sign(forth) * vec3(q.x >= max(q.y, q.z), q.y > max(q.x, q.z), q.z > max(q.x, q.y));
    } else {
        float b = a, value_b = value_a;
        for (int i = 0; i < MARCH && value_b < 0.0 && b < way.y; ++i) {
            a = b;
            value_a = value_b;
            b = min(b + step_size, way.y);
            value_b = value(ray.origin + b * ray.direction);
        }
        if (value_b < 0.0) discard;
        for (int i = 0; i < REFINE; ++i) {
            at = mix(a, b, clamp(-value_a / (value_b - value_a), 0.05, 0.95));
            float here = value(ray.origin + at * ray.direction);
            if (here < 0.0) { a = at; value_a = here; } else { b = at; value_b = here; }
        }
        at = mix(a, b, clamp(-value_a / (value_b - value_a), 0.0, 1.0));
        vec3 p = ray.origin + at * ray.direction, x = HALF * vec3(1, 0, 0), y = x.yxy, z = x.yyx;
        n = vec3(value(p - x) - value(p + x), value(p - y) - value(p + y), value(p - z) - value(p + z));
        float steep = length(n);
        n = steep > 0.0 ? n / steep : -forth;
        if (dot(n, forth) > 0.0) n = normalize(n - 1.02 * dot(n, forth) * forth);
    }
    float z = picture_depth(at);
    if (hidden(z)) discard;
    gl_FragDepth = z;
    color_out = painted(plainly_lit(color, n, -forth), 1.0);
}
