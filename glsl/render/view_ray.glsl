// The ray through a pixel.
#include "render/ray_box.glsl"

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the picture's centre, and per x and y of it
uniform float nearest;        // where the picture begins, m in front of the eye
uniform vec4 depth_scale;     // value z of a depth texture -> m: (x z + y) / (z z + w)
uniform vec2 picture_corner, picture_size;     // of the viewport, pixels

struct Ray {
    vec3 origin, direction;   // cells; the parameter is the depth in front of the eye, m
};

Ray view_ray() {
    vec2 p = 2.0 * (gl_FragCoord.xy - picture_corner) / picture_size - 1.0;
    Ray ray;
    ray.origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    ray.direction = divisible(ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2]);
    return ray;
}

// Depth of the picture, 0 .. 1, of what lies `far` metres in front of the eye.
float picture_depth(float far) {
    return clamp((depth_scale.y - depth_scale.w * far) / (depth_scale.z * far - depth_scale.x), 0.0, 1.0);
}

// Where the ray is between two corners (cells), as (begin, end) in m; empty where end <= begin.
vec2 overlap(Ray ray, vec3 low_corner, vec3 high_corner) {
    return between_corners(ray.origin, ray.direction, low_corner, high_corner, nearest);
}
