// The pressure on a grid with half as many cells along each axis, m^2/s^2: the mean. Packed: four cells along x.

vec4 rows(ivec3 low) {
    vec4 sum = vec4(0.0);
    for (int z = 0; z < (DIMENSIONS == 3 ? 2 : 1); ++z)
        for (int y = 0; y < 2; ++y) sum += fetch_fine_pressure(low + ivec3(0, y, z));
    return sum;
}

void kernel(ivec3 pack) {
    ivec3 low = 2 * pack;
    vec4 first = rows(low), second = low.x + 1 < fine_packed_extent.x ? rows(low + ivec3(1, 0, 0)) : vec4(0.0);
    pressure_out = vec4(first.xz + first.yw, second.xz + second.yw) / float(1 << DIMENSIONS);
}
