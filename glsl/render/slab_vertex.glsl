// A rectangle of the picture: one slab of the volume, or the whole volume.
#include "render/slab_corner.glsl"

uniform vec2 reach;  // share of the target's viewport that the picture takes from its low corner; (1, 1): all

void main() {
    vec2 p = mix(bounds.xy, bounds.zw, vec2(gl_VertexID & 1, gl_VertexID >> 1));
    hand_on(p);
    gl_Position = vec4(reach * p + (reach - 1.0), 0.0, 1.0);
}
