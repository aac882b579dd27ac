// Adds one to a bin, by blending.

out vec4 color_out;

void main() { color_out = vec4(1.0); }
