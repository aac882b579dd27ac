// Sweeps of red-black over-relaxation of laplacian(pressure) = scale * divergence, m^2/s^2, from pressure 0 on a grid of a
// few cells, all in one pass: each texel solves the whole grid, which costs less than passes would. Packed: four cells along x,
// one texel a row. SOLIDS may cut the grid into rooms: of those that no face leads out of the right sides lose their mean,
// which nothing solves for and sweeps would pile up.
#include "lib/turns.glsl"

uniform float scale, omega;
uniform int sweeps;

const int rows = cells.y * cells.z, count = cells.x * rows;
const ivec3 last = cells - 1, apart = ivec3(1, cells.x, cells.x * cells.y);  // between the numbers of neighbours
// Round a periodic box neighbours share a colour where cells are odd in number.
const bool TWO_COLOURS = !any(equal(ivec3(periodic) & cells, ivec3(1)));

float p[count], right[count], wx[count], wy[count], wz[count], sum[count];

ivec3 place(int cell) { return ivec3(cell % cells.x, cell / cells.x % cells.y, cell / apart.z); }

// The cells before and after one along the axes, round the box. Faces of sides that are not periodic have weight 0.
ivec3 before(int cell, ivec3 at) { return cell + apart * (cells * ivec3(equal(at, ivec3(0))) - 1); }
ivec3 after(int cell, ivec3 at) { return cell + apart * (1 - cells * ivec3(equal(at, last))); }

vec3 low_weights(int cell) { return vec3(wx[cell], wy[cell], wz[cell]); }
vec3 high_weights(ivec3 next) { return vec3(wx[next.x], wy[next.y], wz[next.z]); }

void load() {
    int cell = 0;
    do {
        ivec3 at = place(cell), pack = ivec3(0, at.yz);
        p[cell] = 0.0;
        right[cell] = scale * fetch_divergence(pack)[at.x];
        wx[cell] = fetch_weights_x(pack)[at.x];
        wy[cell] = fetch_weights_y(pack)[at.x];
        wz[cell] = fetch_weights_z(pack)[at.x];
        sum[cell] = fetch_weights_sum(pack)[at.x];
    } while (++cell < turns(count));
}

#if SOLIDS
const float ROUNDING = 1e-4;  // share of a sum of weights that is none

float least(float own, vec3 others, vec3 weights) {
    vec3 joined = mix(vec3(own), others, greaterThan(weights, vec3(0.0)));
    return min(min(own, joined.x), min(joined.y, joined.z));
}

void balance_rooms() {
    // the lowest number of a cell there; by it: the sum of right sides, how many cells, what leads out
    float room[count], total[count], members[count], way_out[count];
    int cell = 0;
    do {
        room[cell] = float(cell);
        total[cell] = members[cell] = way_out[cell] = 0.0;
    } while (++cell < turns(count));
    bool changed = true;
    while (changed) {
        changed = false;
        cell = 0;
        do {
            ivec3 at = place(cell), low = before(cell, at), high = after(cell, at);
            float own = least(room[cell], vec3(room[low.x], room[low.y], room[low.z]), low_weights(cell));
            own = least(own, vec3(room[high.x], room[high.y], room[high.z]), high_weights(high));
            changed = changed || own != room[cell];
            room[cell] = own;
        } while (++cell < turns(count));
    }
    cell = 0;
    do {
        int n = int(room[cell]);
        float beyond = sum[cell] - dot(low_weights(cell) + high_weights(after(cell, place(cell))), vec3(1.0));
        total[n] += right[cell];
        members[n] += 1.0;
        way_out[n] += beyond > ROUNDING * sum[cell] ? beyond : 0.0;
    } while (++cell < turns(count));
    cell = 0;
    do {
        int n = int(room[cell]);
        right[cell] -= way_out[n] > 0.0 ? 0.0 : total[n] / members[n];
    } while (++cell < turns(count));
}
#endif

void kernel(ivec3 pack) {
    load();
#if SOLIDS
    balance_rooms();
#endif
    const int half_row = (cells.x + 1) / 2;
    for (int half_sweep = 0; half_sweep < 2 * sweeps; ++half_sweep) {
        float solved[TWO_COLOURS ? 1 : count];
        int n = 0;
        do {  // cells of one colour
            int row = n / half_row, x = 2 * (n % half_row) + (row % cells.y + row / cells.y + half_sweep & 1), cell = row * cells.x + x;
            if (x < cells.x) {
                ivec3 at = place(cell), low = before(cell, at), high = after(cell, at);
                float around = dot(low_weights(cell), vec3(p[low.x], p[low.y], p[low.z]));
                around += dot(high_weights(high), vec3(p[high.x], p[high.y], p[high.z]));
                float found = mix(p[cell], sum[cell] > 0.0 ? (around - right[cell]) / sum[cell] : 0.0, omega);
                if (TWO_COLOURS) p[cell] = found;
                else solved[cell] = found;
            }
        } while (++n < turns(half_row * rows));
        if (!TWO_COLOURS) {
            n = 0;
            do {
                ivec3 at = place(n);
                if ((at.x + at.y + at.z + half_sweep & 1) == 0) p[n] = solved[n];
            } while (++n < turns(count));
        }
    }
    int first = (pack.z * cells.y + pack.y) * cells.x;
    for (int lane = 0; lane < 4; ++lane) pressure_out[lane] = lane < cells.x ? p[first + min(lane, last.x)] : 0.0;
}
