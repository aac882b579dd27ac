// One weighted Jacobi sweep, sim/jacobi.glsl to the bit, of a pressure in eight eighths, see sim/split_eighths.glsl.
// The eight packs of one place are two rows high and four slices deep: most of what a sweep of them reads are they.
#include "lib/jacobi_sweep.glsl"

uniform float weight;

// The pack of eighth n; n is a constant wherever it is called.
vec4 pack_of(int n, ivec3 pack) {
    ivec3 at = pack >> ivec3(0, 1, 2);
    return n == 0 ? fetch_eighths_0(at) : n == 1 ? fetch_eighths_1(at) : n == 2 ? fetch_eighths_2(at)
         : n == 3 ? fetch_eighths_3(at) : n == 4 ? fetch_eighths_4(at) : n == 5 ? fetch_eighths_5(at)
         : n == 6 ? fetch_eighths_6(at) : fetch_eighths_7(at);
}

vec4 swept_of(int n, ivec3 at, vec4 p[8]) {
    bool odd = (n & 1) == 1, first = n < 2, last = n > 5;
    ivec3 pack = ivec3(at.x, 2 * at.y + (n & 1), 4 * at.z + (n >> 1));
    vec4 own = p[n], in_y = p[n ^ 1];
    vec4 before = pack_of(n, readable(pack - X, 0)), after = pack_of(n, readable(pack + X, 0));
    Neighbours beside = along_x(pack, own, before, after);
    beside.ym = or_beyond(odd ? in_y : pack_of(n ^ 1, readable(pack - Y, 1)), pack - Y, 1, own);
    beside.yp = or_beyond(odd ? pack_of(n ^ 1, readable(pack + Y, 1)) : in_y, pack + Y, 1, own);
    beside.zm = or_beyond(first ? pack_of(n + 6, readable(pack - Z, 2)) : p[n - 2 & 7], pack - Z, 2, own);
    beside.zp = or_beyond(last ? pack_of(n - 6, readable(pack + Z, 2)) : p[n + 2 & 7], pack + Z, 2, own);
    vec4 value = swept(own, in_the_open(beside, pack, own), fetch_divergence(pack), weight);
    return pack.y < cells.y && pack.z < cells.z ? value : vec4(0.0);
}

void kernel(ivec3 at) {
    vec4 p[8] = vec4[8](fetch_eighths_0(at), fetch_eighths_1(at), fetch_eighths_2(at), fetch_eighths_3(at),
                        fetch_eighths_4(at), fetch_eighths_5(at), fetch_eighths_6(at), fetch_eighths_7(at));
    eighths_out[0] = swept_of(0, at, p);
    eighths_out[1] = swept_of(1, at, p);
    eighths_out[2] = swept_of(2, at, p);
    eighths_out[3] = swept_of(3, at, p);
    eighths_out[4] = swept_of(4, at, p);
    eighths_out[5] = swept_of(5, at, p);
    eighths_out[6] = swept_of(6, at, p);
    eighths_out[7] = swept_of(7, at, p);
}
