// The cells of a block's box, see occupied_boxes.glsl.

ivec3 cell_of(float number) {
    int bits = int(number + 0.5);
    return ivec3(bits & 127, bits >> 7 & 127, bits >> 14);
}

// Low and high corner (cells) of the box `held` of `block`.
void box_cells(ivec3 block, vec2 held, out vec3 low, out vec3 high) {
    low = vec3(EDGE * block + cell_of(held.x));
    high = vec3(EDGE * block + cell_of(held.y) + 1);
}
