// How the scene hides what is drawn, and how colours are written.
#include "render/srgb.glsl"

uniform bool has_depth;         // else nothing hides but the depth test
uniform sampler2D scene_depth;
uniform ivec2 depth_corner;     // pixel of its first texel
uniform bool depth_reversed;    // near things have the larger depth
uniform bool linear_light;      // the target holds linear light

float depth_of_scene() { return texelFetch(scene_depth, ivec2(gl_FragCoord.xy) - depth_corner, 0).x; }

// Whether the scene stands before depth `z`, 0 .. 1.
bool hidden(float z) {
    if (!has_depth) return false;
    float scene = depth_of_scene();
    return depth_reversed ? scene > z : scene < z;
}

// Premultiplied, from a colour as a screen shows it.
vec4 painted(vec3 color, float alpha) {
    return vec4((linear_light ? unsrgb(color) : color) * alpha, alpha);
}
