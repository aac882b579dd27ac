// Values of four quarters, see sim/quarter.glsl, together again. Packed: four cells along x.

void kernel(ivec3 pack) {
    ivec3 at = ivec3(pack.x, pack.yz >> 1);
    bool odd_y = (pack.y & 1) == 1;
    if ((pack.z & 1) == 0) values_out = odd_y ? fetch_quarters_1(at) : fetch_quarters_0(at);
    else values_out = odd_y ? fetch_quarters_3(at) : fetch_quarters_2(at);
}
