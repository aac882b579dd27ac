// The ends of what a block covers; blending keeps the largest.
flat in vec2 reach;
out vec4 ends_out;

void main() { ends_out = vec4(reach, -2.0, -2.0); }
