// Sweeps of red-black over-relaxation of laplacian(pressure) = scale * divergence, m^2/s^2, from pressure 0 on a grid of a
// few cells, all in one pass: each texel solves the whole grid, which costs less than passes would. Packed: four cells along x,
// one texel a row. SOLIDS may cut the grid into rooms: of those that no face leads out of the right sides lose their mean,
// which nothing solves for and sweeps would pile up.

uniform float scale, omega;
uniform int sweeps;

const int rows = cells.y * cells.z, edge = cells.x - 1;

// The row `by` rows on along y or z, round the box. Faces of sides that are not periodic have weight 0.
int beside(int row, int along, int by) {
    int y = row % cells.y, z = row / cells.y;
    if (along == 1) y = (y + by + cells.y) % cells.y;
    else z = (z + by + cells.z) % cells.z;
    return z * cells.y + y;
}

// None is copied whole to another: Mesa 25 takes the two for one, and goes on with what the first holds later.
vec4 p[rows], solved[rows], right[rows], wx[rows], wy[rows], wz[rows], sum[rows];

void load() {
    for (int row = 0; row < rows; ++row) {
        ivec3 at = ivec3(0, row % cells.y, row / cells.y);
        p[row] = vec4(0.0);
        right[row] = scale * fetch_divergence(at);
        wx[row] = fetch_weights_x(at);
        wy[row] = fetch_weights_y(at);
        wz[row] = fetch_weights_z(at);
        sum[row] = fetch_weights_sum(at);
    }
}

// Of each cell of a row what is stored of the cell before and after it along x; round the box.
void along_row(vec4 own, out vec4 before, out vec4 after) {
    before = vec4(0.0, own.xyz);
    after = vec4(own.yzw, 0.0);
    before.x = own[edge];
    after[edge] = own.x;
}

vec4 high_x(int row) {
    vec4 high = vec4(wx[row].yzw, 0.0);
    high[edge] = wx[row].x;
    return high;
}

#if SOLIDS
const float ROUNDING = 1e-4;  // share of a sum of weights that is none

vec4 least(vec4 own, vec4 other, vec4 weight) { return mix(own, min(own, other), greaterThan(weight, vec4(0.0))); }

void balance_rooms() {
    vec4 room[rows], way_out[rows], mean[rows];  // a cell's lowest number there; what leads out; of right sides
    for (int row = 0; row < rows; ++row) {
        room[row] = vec4(4 * row) + vec4(0.0, 1.0, 2.0, 3.0);
        vec4 inner = wx[row] + high_x(row) + wy[row] + wy[beside(row, 1, 1)] + wz[row] + wz[beside(row, 2, 1)];
        way_out[row] = mix(vec4(0.0), sum[row] - inner, greaterThan(sum[row] - inner, ROUNDING * sum[row]));
    }
    bool changed = true;
    for (int n = 0; n < 4 * rows && changed; ++n) {
        changed = false;
        for (int row = 0; row < rows; ++row) {
            int y_up = beside(row, 1, 1), z_up = beside(row, 2, 1);
            vec4 own = room[row], before, after;
            along_row(own, before, after);
            own = least(least(own, before, wx[row]), after, high_x(row));
            own = least(least(own, room[beside(row, 1, -1)], wy[row]), room[y_up], wy[y_up]);
            own = least(least(own, room[beside(row, 2, -1)], wz[row]), room[z_up], wz[z_up]);
            changed = changed || own != room[row];
            room[row] = own;
        }
    }
    for (int row = 0; row < rows; ++row) {
        vec4 total = vec4(0.0), count = vec4(0.0), leads_out = vec4(0.0);
        for (int other = 0; other < rows; ++other)
            for (int lane = 0; lane < 4; ++lane) {
                vec4 same = vec4(equal(room[row], vec4(room[other][lane])));
                total += same * right[other][lane];
                count += same;
                leads_out += same * way_out[other][lane];
            }
        mean[row] = mix(total / count, vec4(0.0), greaterThan(leads_out, vec4(0.0)));
    }
    for (int row = 0; row < rows; ++row) right[row] -= mean[row];
}
#endif

void kernel(ivec3 pack) {
    load();
#if SOLIDS
    balance_rooms();
#endif
    for (int half_sweep = 0; half_sweep < 2 * sweeps; ++half_sweep) {
        for (int row = 0; row < rows; ++row) {
            int y_down = beside(row, 1, -1), y_up = beside(row, 1, 1), z_down = beside(row, 2, -1), z_up = beside(row, 2, 1);
            vec4 before, after;
            along_row(p[row], before, after);
            vec4 around = wx[row] * before + high_x(row) * after + wy[row] * p[y_down] + wy[y_up] * p[y_up]
                + wz[row] * p[z_down] + wz[z_up] * p[z_up];
            bvec4 fluid = greaterThan(sum[row], vec4(0.0));
            solved[row] = mix(p[row], mix(vec4(0.0), (around - right[row]) / mix(vec4(1.0), sum[row], fluid), fluid), omega);
        }
        for (int row = 0; row < rows; ++row) {
            bool even = ((row % cells.y + row / cells.y + half_sweep) & 1) == 0;
            vec4 own = p[row], other = solved[row];
            p[row] = even ? vec4(other.x, own.y, other.z, own.w) : vec4(own.x, other.y, own.z, other.w);
        }
    }
    pressure_out = p[pack.z * cells.y + pack.y];
}
