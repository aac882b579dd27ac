// Sums over the rows of each slice.
void kernel(ivec3 slice) {
    vec4 sum = vec4(0.0);
    for (int y = 0; y < row_extent.y; ++y) sum += fetch_rows(ivec3(0, y, slice.z));
    slices_out = sum;
}
