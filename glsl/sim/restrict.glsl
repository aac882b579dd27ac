// What the pressure leaves of its equation, m^2/s^2, summed over the cells that one of the next coarser grid stands
// for. Packed: four of its cells along x. joined: those cells, see join_cells.glsl.
#include "lib/pressure_left.glsl"

void kernel(ivec3 pack) {
    ivec3 low = 2 * pack, high = min(low + 2, packed_extent);
    for (int z = low.z; z < high.z; ++z)
        for (int y = low.y; y < high.y; ++y)
            for (int x = low.x; x < high.x; ++x) {
                vec4 left = pressure_left(ivec3(x, y, z));
#if SOLIDS
                ivec2 two = ivec2(x == low.x ? fetch_joined(pack).xy : fetch_joined(pack).zw) >> (2 * (y & 1) + 4 * (z & 1));
                left *= vec4(two.xxyy >> ivec4(0, 1, 0, 1) & 1);
#endif
                vec2 pairs = left.xz + left.yw;
                restricted_out += x == low.x ? vec4(pairs, 0.0, 0.0) : vec4(0.0, 0.0, pairs);
            }
}
