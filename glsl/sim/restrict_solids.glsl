// What solids are on a grid with half as many cells along each axis: their mean velocity in a cell, m/s, and 1 where it
// counts as solid. It does where half of it is, as in a wall one finer cell thick, and where they part what is left of it,
// which else would join what they keep apart. Cells.

void kernel(ivec3 cell) {
    vec4 sum = vec4(0.0);
    int solid = 0;  // of the finer cells in it, bits x + 2 y + 4 z
    for (int n = 0; n < 1 << DIMENSIONS; ++n) {
        vec4 there = fetch_fine_solid_velocity(2 * cell + ivec3(n & 1, n >> 1 & 1, n >> 2));
        sum += vec4(there.xyz, 1.0) * there.w;
        solid |= int(there.w) << n;
    }
    int fluid = (1 << (1 << DIMENSIONS)) - 1 & ~solid, joined = fluid & -fluid;
    for (int n = 0; n < 4; ++n) {  // no way from one of eight to another is longer
        int beside = (joined & 0x55) << 1 | joined >> 1 & 0x55 | (joined & 0x33) << 2 | joined >> 2 & 0x33;
        joined |= (beside | (joined & 0x0f) << 4 | joined >> 4) & fluid;
    }
    bool counts = 2.0 * sum.w >= float(1 << DIMENSIONS) || joined != fluid;
    solid_velocity_out = counts ? vec4(sum.xyz / sum.w, 1.0) : vec4(0.0);
}
