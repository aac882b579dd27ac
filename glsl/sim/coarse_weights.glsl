// Weights of the faces of a coarse grid: open area over the distance between the cells' centres, both in cells of
// the finest grid. Packed, four cells along x: the low faces along x, y and z, and the sum over all six. A low face at a
// side of the box is 0 unless the box is periodic; a side that is open counts in the sum alone, since there the
// pressure is 0. So does a face to a finer cell that no coarse one stands for (see join_cells.glsl): none is corrected.
#include "lib/finer.glsl"
#include "lib/turns.glsl"

const float ROUNDING = 1e-5;  // share of a sum of weights that is none
const bool LEADS_OUT = WEIGHTED != 0 || any(open_low) || any(open_high);

float width(int i, int n, int s) { return float(min(s, n - i * s)); }

// From the centre of cell `i` to that of the cell before it, for the first one round the box.
float distance_before(int i, int n, int s) {
    return 0.5 * (width(i, n, s) + width(i == 0 ? count_of(n, s) - 1 : i - 1, n, s));
}

// From the centre of the cell at a side to that of the finest cell beyond it.
float distance_beyond(bool high, int n, int s) {
    return 0.5 * (width(high ? count_of(n, s) - 1 : 0, n, s) + 1.0);
}

// Whether the coarse cell over a finer one stands for it.
bool stood_for(ivec3 fine) {
#if SOLIDS
    ivec3 cell = fine >> 1, odd = fine & 1;
    int joined = int(fetch_joined(ivec3(cell.x >> 2, cell.yz))[cell.x & 3]);
    return (joined >> (odd.x + 2 * odd.y + 4 * odd.z) & 1) == 1;
#else
    return true;
#endif
}

// Open area of the low face of a finer cell.
float area(ivec3 fine, int axis) {
    for (int a = 0; a < 3; ++a)
        if (fine[a] >= finer_cells(a)) return 0.0;
#if WEIGHTED
    return fine_weight(fine, axis) * distance_before(fine[axis], finest[axis], stride / 2);
#else
    if (fine[axis] == 0 && !periodic[axis]) return 0.0;
    return float(open_sides(fine) >> (2 * axis) & 1);
#endif
}

// Of the low face of a cell: its weight, and what faces to finer cells that nothing stands for add to the sum of this
// cell and to that of the cell before it.
vec3 face_weights(ivec3 cell, int axis) {
    if (cells[axis] == 1) return vec3(0.0);
    if (cell[axis] == cells[axis]) cell[axis] = 0;
    int half_stride = stride / 2, i = cell[axis], n = finest[axis];
    ivec3 a = axis == 0 ? Y : X, b = axis == 2 ? Y : Z;
    vec3 sum = vec3(0.0);
    for (int quarter = 0; quarter < turns(4); ++quarter) {
        ivec3 fine = 2 * cell + (quarter & 1) * a + (quarter >> 1) * b, before = fine;
        before[axis] = (fine[axis] == 0 ? finer_cells(axis) : fine[axis]) - 1;
        float open_area = area(fine, axis);
        if (open_area == 0.0) continue;
        bool own = stood_for(fine), others = stood_for(before);
        sum += open_area * vec3(own && others, own && !others, others && !own);
    }
    return sum / vec3(distance_before(i, n, stride),
                      0.5 * (width(i, n, stride) + width(i == 0 ? finer_cells(axis) - 1 : 2 * i - 1, n, half_stride)),
                      0.5 * (width(i == 0 ? cells[axis] - 1 : i - 1, n, stride) + width(2 * i, n, half_stride)));
}

// What of a finer cell's sum leads to where the pressure is 0, as it counts here: beyond open sides of the box.
float beyond(ivec3 fine) {
    int half_stride = stride / 2;
    float sum = 0.0, shrink = float(half_stride + 1) / float(stride + 1);
    if (!stood_for(fine)) return 0.0;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        int n = finest[axis];
        for (int high = 0; high < 2; ++high) {
            if (!(high == 1 ? open_high[axis] : open_low[axis])) continue;
            if (fine[axis] != (high == 1 ? count_of(n, half_stride) - 1 : 0)) continue;
            float far = distance_beyond(high == 1, n, stride);
            shrink = distance_beyond(high == 1, n, half_stride) / far;
#if !WEIGHTED
            sum += float(open_sides(fine) >> (2 * axis + high) & 1) / far;
#endif
        }
    }
#if WEIGHTED
    float all = fine_weight(fine, 3);
    sum = all;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        ivec3 next = fine + step_along(axis);
        if (next[axis] == finer_cells(axis)) next[axis] = 0;
        sum -= fine_weight(fine, axis) + fine_weight(next, axis);
    }
    sum = sum > ROUNDING * all ? sum * shrink : 0.0;
#endif
    return sum;
}

// Of the low faces along x, y and z, and the sum.
vec4 weights_of(ivec3 cell) {
    vec4 found = vec4(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        vec3 low = face_weights(cell, axis), high = face_weights(cell + step_along(axis), axis);
        found[axis] = low.x;
        found.w += low.x + low.y + high.x + high.z;
    }
    if (!LEADS_OUT) return found;
    ivec3 most = ivec3(finer_cells(0), finer_cells(1), finer_cells(2));
    ivec3 low = 2 * cell, high = min(low + 2, most);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x) found.w += beyond(ivec3(x, y, z));
    return found;
}

void kernel(ivec3 pack) {
    for (int part = 0; part < 4; ++part) weights_out[part] = vec4(0.0);
    for (int lane = 0; lane < turns(4); ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        if (cell.x >= cells.x) continue;
        vec4 found = weights_of(cell);
        for (int part = 0; part < 4; ++part) weights_out[part][lane] = found[part];
    }
}
