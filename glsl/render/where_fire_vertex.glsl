// One triangle over the whole viewport if anything burns in the box; else none, since its fire lights nothing.
#include "lib/nowhere.glsl"

uniform sampler2D fire_list;  // see fire_list.glsl

void main() {
    bool burns = texelFetch(fire_list, ivec2(0), 0).x >= 0.0;
    gl_Position = burns ? vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0) : NOWHERE;
}
