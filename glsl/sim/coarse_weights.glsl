// Weights of the faces of a coarse grid: open area over the distance between the cells' centres, both in cells of
// the finest grid. Packed, four cells along x: the low faces along x, y or z, or the sum over all six. A low face at a
// side of the box is 0 unless the box is periodic; a side that is open counts in the sum alone, since there the
// pressure is 0.
#include "lib/box.glsl"
#include "lib/turns.glsl"

uniform ivec3 finest;  // cells of the finest grid
uniform int stride;    // finest cells that a cell here is wide, but for the last of a row
uniform int part;      // 0, 1, 2: of the low faces along that axis; 3: the sum

int count_of(int n, int s) { return (n + s - 1) / s; }
float width(int i, int n, int s) { return float(min(s, n - i * s)); }

// From the centre of cell `i` to that of the cell before it, for the first one round the box.
float distance_before(int i, int n, int s) {
    return 0.5 * (width(i, n, s) + width(i == 0 ? count_of(n, s) - 1 : i - 1, n, s));
}

// From the centre of the cell at a side to that of the finest cell beyond it.
float distance_beyond(bool high, int n, int s) {
    return 0.5 * (width(high ? count_of(n, s) - 1 : 0, n, s) + 1.0);
}

#if WEIGHTED
float lane(vec4 pack, int x) { return pack[x & 3]; }

// Of the low face of a finer cell along an axis, or the sum.
float fine_weight(ivec3 fine, int which) {
    ivec3 pack = ivec3(fine.x >> 2, fine.yz);
    if (which == 0) return lane(fetch_fine_weights_x(pack), fine.x);
    if (which == 1) return lane(fetch_fine_weights_y(pack), fine.x);
    if (which == 2) return lane(fetch_fine_weights_z(pack), fine.x);
    return lane(fetch_fine_weights_sum(pack), fine.x);
}
#else
bool is_open(ivec3 cell, int side) {
#if SOLIDS
    return (int(fetch_openings(ivec3(cell.x / 4, cell.yz)).x) >> (6 * (cell.x % 4) + side) & 1) == 1;
#else
    return true;
#endif
}
#endif

// Open area of the low face of a finer cell.
float area(ivec3 fine, int axis) {
    int half_stride = stride / 2;
    for (int a = 0; a < 3; ++a)
        if (fine[a] >= count_of(finest[a], half_stride)) return 0.0;
#if WEIGHTED
    return fine_weight(fine, axis) * distance_before(fine[axis], finest[axis], half_stride);
#else
    if (fine[axis] == 0 && !periodic[axis]) return 0.0;
    return float(is_open(fine, 2 * axis));
#endif
}

float face_weight(ivec3 cell, int axis) {
    if (cells[axis] == 1) return 0.0;
    if (cell[axis] == cells[axis]) cell[axis] = 0;
    ivec3 a = axis == 0 ? Y : X, b = axis == 2 ? Y : Z, fine = 2 * cell;
    float sum = 0.0;
    for (int n = 0; n < turns(4); ++n) sum += area(fine + (n & 1) * a + (n >> 1) * b, axis);
    return sum / distance_before(cell[axis], finest[axis], stride);
}

// What open sides of the box add to a finer cell's sum, as it counts here.
float beyond(ivec3 fine) {
    int half_stride = stride / 2;
    float sum = 0.0, shrink = 0.0;
    bool touching = false;
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        int n = finest[axis];
        for (int high = 0; high < 2; ++high) {
            if (!(high == 1 ? open_high[axis] : open_low[axis])) continue;
            if (fine[axis] != (high == 1 ? count_of(n, half_stride) - 1 : 0)) continue;
            touching = true;
            float far = distance_beyond(high == 1, n, stride);
            shrink = distance_beyond(high == 1, n, half_stride) / far;
#if !WEIGHTED
            sum += float(is_open(fine, 2 * axis + high)) / far;
#endif
        }
    }
#if WEIGHTED
    if (!touching) return 0.0;
    sum = fine_weight(fine, 3);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        ivec3 next = fine + step_along(axis);
        if (next[axis] == count_of(finest[axis], half_stride)) next[axis] = 0;
        sum -= fine_weight(fine, axis) + fine_weight(next, axis);
    }
    sum = max(sum, 0.0) * shrink;
#endif
    return sum;
}

// Of the low face along `part`, or the sum. One loop for both: compiled once.
float weight_of(ivec3 cell) {
    float sum = 0.0;
    int first = part < 3 ? part : 0, end = part < 3 ? part + 1 : DIMENSIONS;
    for (int axis = first; axis < end; ++axis) {
        float both = 0.0;
        for (int high = 0; high < (part < 3 ? 1 : 2); ++high) both += face_weight(cell + high * step_along(axis), axis);
        sum += both;
    }
    if (part < 3) return sum;
    ivec3 most = ivec3(count_of(finest.x, stride / 2), count_of(finest.y, stride / 2), count_of(finest.z, stride / 2));
    ivec3 low = 2 * cell, high = min(low + 2, most);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x) sum += beyond(ivec3(x, y, z));
    return sum;
}

void kernel(ivec3 pack) {
    for (int lane = 0; lane < turns(4); ++lane) {
        ivec3 cell = ivec3(4 * pack.x + lane, pack.yz);
        if (cell.x >= cells.x || part < 3 && part >= DIMENSIONS) continue;
        weights_out[lane] = weight_of(cell);
    }
}
