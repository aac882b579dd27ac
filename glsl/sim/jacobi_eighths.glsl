// One weighted Jacobi sweep, sim/jacobi.glsl to the bit, of a pressure in eight eighths, see sim/split_eighths.glsl.
// The eight packs of one place are two rows high and four slices deep: most of what a sweep of them reads are they.
#include "lib/jacobi_sweep.glsl"

uniform float weight;

// The sweep of eighth n of the eight at `at`, which hold `p`. before, after: of the same eighth, beside it along x.
// below_or_above: of the one beside it along y that is none of the eight; behind_or_before: along z, if there is one.
vec4 swept_of(int n, ivec3 at, vec4 p[8], vec4 before, vec4 after, vec4 below_or_above, vec4 behind_or_before) {
    bool odd = (n & 1) == 1, first = n < 2, last = n > 5;
    ivec3 pack = ivec3(at.x, 2 * at.y + (n & 1), 4 * at.z + (n >> 1));
    vec4 own = p[n], in_y = p[n ^ 1];
    Neighbours beside = along_x(pack, own, before, after);
    beside.ym = or_beyond(odd ? in_y : below_or_above, pack - Y, 1, own);
    beside.yp = or_beyond(odd ? below_or_above : in_y, pack + Y, 1, own);
    beside.zm = or_beyond(first ? behind_or_before : p[n - 2 & 7], pack - Z, 2, own);
    beside.zp = or_beyond(last ? behind_or_before : p[n + 2 & 7], pack + Z, 2, own);
    vec4 value = swept(own, in_the_open(beside, pack, own), fetch_divergence(pack), weight);
    return pack.y < cells.y && pack.z < cells.z ? value : vec4(0.0);
}

// Where the eighths of the pack at `pack` are to be read, which may lie beyond a side.
ivec3 eighth_of(ivec3 pack, int axis) { return readable(pack, axis) >> ivec3(0, 1, 2); }

void kernel(ivec3 at) {
    vec4 p[8] = vec4[8](fetch_eighths_0(at), fetch_eighths_1(at), fetch_eighths_2(at), fetch_eighths_3(at),
                        fetch_eighths_4(at), fetch_eighths_5(at), fetch_eighths_6(at), fetch_eighths_7(at));
    ivec3 pack = at * ivec3(1, 2, 4);  // the first of the eight
    ivec3 left = eighth_of(pack - X, 0), right = eighth_of(pack + X, 0);
    ivec3 below = eighth_of(pack - Y, 1), above = eighth_of(pack + 2 * Y, 1);
    ivec3 behind = eighth_of(pack - Z, 2), before = eighth_of(pack + 4 * Z, 2);
    // written out: to choose an eighth by a number, a compiler would have to read all and drop seven
#define SWEPT(n, own, along_y, along_z) eighths_out[n] = swept_of(n, at, p, own(left), own(right), along_y, along_z)
    SWEPT(0, fetch_eighths_0, fetch_eighths_1(below), fetch_eighths_6(behind));
    SWEPT(1, fetch_eighths_1, fetch_eighths_0(above), fetch_eighths_7(behind));
    SWEPT(2, fetch_eighths_2, fetch_eighths_3(below), p[2]);
    SWEPT(3, fetch_eighths_3, fetch_eighths_2(above), p[3]);
    SWEPT(4, fetch_eighths_4, fetch_eighths_5(below), p[4]);
    SWEPT(5, fetch_eighths_5, fetch_eighths_4(above), p[5]);
    SWEPT(6, fetch_eighths_6, fetch_eighths_7(below), fetch_eighths_0(before));
    SWEPT(7, fetch_eighths_7, fetch_eighths_6(above), fetch_eighths_1(before));
}
