// Red-black Gauss-Seidel sweeps of laplacian(pressure) = scale * divergence, m^2/s^2, from pressure 0 on a grid of a
// few cells, all in one pass: each texel solves the whole grid, which costs less than passes would. Packed: four cells along x,
// one texel a row.

uniform float scale;
uniform int sweeps;

const int rows = cells.y * cells.z, edge = cells.x - 1;

// The row `by` rows on along y or z, round the box. Faces of sides that are not periodic have weight 0.
int beside(int row, int along, int by) {
    int y = row % cells.y, z = row / cells.y;
    if (along == 1) y = (y + by + cells.y) % cells.y;
    else z = (z + by + cells.z) % cells.z;
    return z * cells.y + y;
}

void kernel(ivec3 pack) {
    vec4 p[rows], next[rows], right[rows], wx[rows], wy[rows], wz[rows], sum[rows];
    for (int row = 0; row < rows; ++row) {
        ivec3 at = ivec3(0, row % cells.y, row / cells.y);
        p[row] = vec4(0.0);
        right[row] = scale * fetch_divergence(at);
        wx[row] = fetch_weights_x(at);
        wy[row] = fetch_weights_y(at);
        wz[row] = fetch_weights_z(at);
        sum[row] = fetch_weights_sum(at);
    }
    for (int half_sweep = 0; half_sweep < 2 * sweeps; ++half_sweep) {
        for (int row = 0; row < rows; ++row) {
            int y_down = beside(row, 1, -1), y_up = beside(row, 1, 1), z_down = beside(row, 2, -1), z_up = beside(row, 2, 1);
            vec4 own = p[row], high = vec4(wx[row].yzw, 0.0), before = vec4(0.0, own.xyz), after = vec4(own.yzw, 0.0);
            high[edge] = wx[row].x;
            before.x = own[edge];
            after[edge] = own.x;
            vec4 around = wx[row] * before + high * after + wy[row] * p[y_down] + wy[y_up] * p[y_up]
                + wz[row] * p[z_down] + wz[z_up] * p[z_up];
            bvec4 fluid = greaterThan(sum[row], vec4(0.0));
            vec4 solved = mix(vec4(0.0), (around - right[row]) / mix(vec4(1.0), sum[row], fluid), fluid);
            bool even = ((row % cells.y + row / cells.y + half_sweep) & 1) == 0;
            next[row] = even ? vec4(solved.x, own.y, solved.z, own.w) : vec4(own.x, solved.y, own.z, solved.w);
        }
        for (int row = 0; row < rows; ++row) p[row] = next[row];
    }
    pressure_out = p[pack.z * cells.y + pack.y];
}
