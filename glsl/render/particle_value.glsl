// The quantity `shown` where each particle is.
#include "lib/cell_sample.glsl" for shown

uniform sampler2D state;

out vec4 value_out;

void main() { value_out = sample_shown(texelFetch(state, ivec2(gl_FragCoord.xy), 0).xyz); }
