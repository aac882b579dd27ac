// What a pass has written in one texture of a field, for the other. Texels.
void kernel(ivec2 texel) { brought = texelFetch(written, texel, 0); }
