// Values of eight eighths, see sim/split_eighths.glsl, together again. Packed: four cells along x.

void kernel(ivec3 pack) {
    ivec3 at = pack >> ivec3(0, 1, 2);
    bool odd_y = (pack.y & 1) == 1;
    switch (pack.z & 3) {
    case 0: values_out = odd_y ? fetch_eighths_1(at) : fetch_eighths_0(at); break;
    case 1: values_out = odd_y ? fetch_eighths_3(at) : fetch_eighths_2(at); break;
    case 2: values_out = odd_y ? fetch_eighths_5(at) : fetch_eighths_4(at); break;
    default: values_out = odd_y ? fetch_eighths_7(at) : fetch_eighths_6(at);
    }
}
