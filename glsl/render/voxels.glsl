// Solid cells as cubes or as wires, by walking the ray from cell to cell (Amanatides & Woo 1987).
#include "lib/box.glsl"
#include "render/view_ray.glsl"
#include "render/scene_depth.glsl"
#include "render/plain_light.glsl"

uniform float fill;          // edge of a cube, share of a cell; 0: wires round the cells
uniform float line_width;    // of wires, pixels
uniform vec3 color;

out vec4 color_out;

bool solid_at(ivec3 cell) {
#if SOLIDS
    return fetch_solid(cell).x > 0.5;
#else
    return false;
#endif
}

void main() {
    Ray ray = view_ray();
    vec2 way = overlap(ray, vec3(0.0), vec3(cells));
    if (!(way.y > way.x)) discard;
    vec3 forth = normalize(ray.direction), inverse = 1.0 / ray.direction;
    vec3 start = ray.origin + way.x * ray.direction;
    ivec3 cell = in_box(ivec3(floor(start + 1e-4 * forth)));
    ivec3 stride = ivec3(mix(vec3(-1.0), vec3(1.0), greaterThan(forth, vec3(0.0))));
    vec3 next = (vec3(cell + max(stride, 0)) - ray.origin) * inverse;   // m, where the ray leaves the cell
    vec3 q = abs(start / vec3(cells) - 0.5);
    ivec3 face = ivec3(q.x >= max(q.y, q.z), q.y > max(q.x, q.z), q.z > max(q.x, q.y));  // axis it came in by
    float at = way.x;
    bool before = false;     // whether the cell before is solid
    float cover = 0.0;
    vec3 n = -forth;
    for (int i = 0; i < cells.x + cells.y + cells.z; ++i) {
        bool here = solid_at(cell);
        if (here && fill > 0.0) {
            float rim = 0.5 - 0.5 * fill;
            vec3 a = (vec3(cell) + rim - ray.origin) * inverse, b = (vec3(cell) + 1.0 - rim - ray.origin) * inverse;
            vec3 low = min(a, b), high = max(a, b);
            float near = max(max(low.x, low.y), low.z), far = min(min(high.x, high.y), high.z);
            if (far > max(near, nearest)) {
                at = max(near, nearest);
                n = -vec3(stride) * vec3(low.x >= max(low.y, low.z), low.y > max(low.x, low.z), low.z > max(low.x, low.y));
                cover = 1.0;
                break;
            }
        }
        if (here && !before && fill <= 0.0) {
            // the face it came in by: how far its edges are, in pixels
            vec3 in_face = ray.origin + at * ray.direction - vec3(cell);
            vec3 side = min(in_face, 1.0 - in_face) + 9.0 * vec3(face);
            float pixel = 2.0 * length(ray_origin[1] + at * ray_direction[1]) / picture_size.x;
            float away = min(side.x, min(side.y, side.z)) / pixel;
            // wires that come closer than a few pixels fade, or they would fill the picture
            cover = clamp(0.5 + 0.5 * line_width - away, 0.0, 1.0) * clamp(0.35 / pixel - 0.4, 0.15, 1.0);
            n = -vec3(stride) * vec3(face);
            break;
        }
        before = here;
        at = min(next.x, min(next.y, next.z));
        face = next.x <= at ? X : next.y <= at ? Y : Z;
        cell += face * stride;
        if (cell != in_box(cell)) break;
        next += vec3(face) * abs(inverse);
    }
    if (cover <= 0.02) discard;
    float z = picture_depth(at);
    if (hidden(z)) discard;
    gl_FragDepth = z;
    color_out = painted(fill > 0.0 ? plainly_lit(color, n, -forth) : color, cover);
}
