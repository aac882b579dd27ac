// Sums over the cells of the next finer grid in one of this.

vec4 sum_of_FIELD(ivec3 cell) {
    vec4 sum = vec4(0.0);
    for (int z = 0; z < (DIMENSIONS == 3 ? 2 : 1); ++z)
        for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 2; ++x) sum += fetch_FIELD(2 * cell + ivec3(x, y, z));
    return sum;
}
