// One weighted Jacobi sweep, sim/jacobi.glsl to the bit, of a pressure in four quarters, see sim/quarter.glsl. The
// four packs of one place are neighbours: of what a sweep reads of the pressure a quarter is read once for two.
#include "lib/jacobi_sweep.glsl"

// The pack of quarter n; n is a constant wherever it is called.
vec4 pack_of(int n, ivec3 pack) {
    ivec3 at = ivec3(pack.x, pack.yz >> 1);
    return n == 0 ? fetch_quarters_0(at) : n == 1 ? fetch_quarters_1(at) : n == 2 ? fetch_quarters_2(at) : fetch_quarters_3(at);
}

vec4 swept_of(int n, ivec3 at, vec4 p[4]) {
    bool odd_y = (n & 1) == 1, odd_z = (n >> 1) == 1;
    ivec3 pack = ivec3(at.x, 2 * at.y + (n & 1), 2 * at.z + (n >> 1));
    vec4 own = p[n], in_y = p[n ^ 1], in_z = p[n ^ 2];
    vec4 before = pack_of(n, readable(pack - X, 0)), after = pack_of(n, readable(pack + X, 0));
    Neighbours beside = along_x(pack, own, before, after);
    beside.ym = or_beyond(odd_y ? in_y : pack_of(n ^ 1, readable(pack - Y, 1)), pack - Y, 1, own);
    beside.yp = or_beyond(odd_y ? pack_of(n ^ 1, readable(pack + Y, 1)) : in_y, pack + Y, 1, own);
    beside.zm = or_beyond(odd_z ? in_z : pack_of(n ^ 2, readable(pack - Z, 2)), pack - Z, 2, own);
    beside.zp = or_beyond(odd_z ? pack_of(n ^ 2, readable(pack + Z, 2)) : in_z, pack + Z, 2, own);
    vec4 value = swept(own, in_the_open(beside, pack, own), fetch_divergence(pack));
    return pack.y < cells.y && pack.z < cells.z ? value : vec4(0.0);
}

void kernel(ivec3 at) {
    vec4 p[4] = vec4[4](fetch_quarters_0(at), fetch_quarters_1(at), fetch_quarters_2(at), fetch_quarters_3(at));
    quarters_out[0] = swept_of(0, at, p);
    quarters_out[1] = swept_of(1, at, p);
    quarters_out[2] = swept_of(2, at, p);
    quarters_out[3] = swept_of(3, at, p);
}
