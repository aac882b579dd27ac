// The ends of what a block covers; blending keeps the largest.
flat in vec2 reach;
out vec2 ends_out;

void main() { ends_out = reach; }
