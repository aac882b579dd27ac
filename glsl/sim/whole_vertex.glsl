// One triangle over all of the target.
#include "lib/texel_place.glsl"

void main() { gl_Position = placed(vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0)); }
