// One pass of a Fourier transform along y or z.
#include "lib/stockham.glsl"

uniform int axis;         // 1: y, 2: z

vec4 numbers_at(ivec3 pack, int n) {
    return fetch_transform(axis == 1 ? ivec3(pack.x, n, pack.z) : ivec3(pack.xy, n));
}

void kernel(ivec3 pack) {
    int n = axis == 1 ? pack.y : pack.z, within = n & (1 << (done + bits)) - 1, stride = most >> (done + bits);
    transform_out = passed_on(pack, n, within, axis == 1 ? cells.y : cells.z, root(within * stride).xyxy);
}
