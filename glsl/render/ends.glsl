// Boxes (cells) round all that shows anything and round all that stops light, see occupied_ends_fragment.glsl.

uniform sampler2D ends;

void shown_ends(out vec3 low, out vec3 high) {
    low = -texelFetch(ends, ivec2(0, 0), 0).xyz;
    high = texelFetch(ends, ivec2(1, 0), 0).xyz;
}

void stopping_ends(out vec3 low, out vec3 high) {
    low = -texelFetch(ends, ivec2(2, 0), 0).xyz;
    high = texelFetch(ends, ivec2(3, 0), 0).xyz;
}
