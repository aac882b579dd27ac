// Of BLOCK^3 blocks of faces the largest speed along each axis and, in w, the largest there may be in one of them, m/s.
void kernel(ivec3 group) {
    vec4 largest = vec4(0.0);
    ivec3 last = block_extent - 1;
    for (int n = 0; n < BLOCK * BLOCK * BLOCK; ++n) {
        ivec3 block = min(BLOCK * group + ivec3(n % BLOCK, n / BLOCK % BLOCK, n / (BLOCK * BLOCK)), last);
        vec3 speed = fetch_speed(block).xyz;
        largest = max(largest, vec4(speed, length(speed)));
    }
    largest_out = largest;
}
