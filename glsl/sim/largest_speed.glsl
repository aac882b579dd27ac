// The largest speed in BLOCK^3 blocks of faces, m/s: of the largest of each component there, see max_speed.glsl.
void kernel(ivec3 group) {
    float largest = 0.0;
    ivec3 last = block_extent - 1;
    for (int n = 0; n < BLOCK * BLOCK * BLOCK; ++n) {
        ivec3 block = min(BLOCK * group + ivec3(n % BLOCK, n / BLOCK % BLOCK, n / (BLOCK * BLOCK)), last);
        largest = max(largest, length(fetch_speed(block).xyz));
    }
    largest_out = vec4(largest, 0.0, 0.0, 0.0);
}
