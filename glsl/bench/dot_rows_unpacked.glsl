// Sums over the fluid cells of each row, as the bench's baseline has it: a * b, a * a, a, and the number of cells.

void kernel(ivec3 row) {
    vec4 sum = vec4(0.0);
    for (int x = 0; x < cell_extent.x; ++x) {
        ivec3 cell = ivec3(x, row.yz);
#if SOLIDS
        if (fetch_openings(cell).x < 0.5) continue;
#endif
        float a = fetch_a(cell).x;
        sum += vec4(a * fetch_b(cell).x, a * a, a, 1.0);
    }
    rows_out = sum;
}
