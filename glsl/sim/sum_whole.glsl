// Sums over all slices.
void kernel(ivec3 whole) {
    vec4 sum = vec4(0.0);
    for (int z = 0; z < slice_extent.z; ++z) sum += fetch_slices(ivec3(0, 0, z));
    wholes_out = sum;
}
