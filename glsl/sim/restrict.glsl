// What the pressure leaves of its equation, m^2/s^2, summed over the cells that one of the next coarser grid stands
// for. Packed: four of its cells along x. joined: those cells, see join_cells.glsl.
#include "lib/pressure_left.glsl"

void kernel(ivec3 pack) {
    ivec3 at = 2 * pack, low = at, end = min(low + 2, packed_extent);
    do {  // asked for last, see turns.glsl
        at.y = low.y;
        do {
            at.x = low.x;
            do {
                vec4 left = pressure_left(at);
#if SOLIDS
                ivec2 two = ivec2(at.x == low.x ? fetch_joined(pack).xy : fetch_joined(pack).zw) >> (2 * (at.y & 1) + 4 * (at.z & 1));
                left *= vec4(two.xxyy >> ivec4(0, 1, 0, 1) & 1);
#endif
                vec2 pairs = left.xz + left.yw;
                restricted_out += at.x == low.x ? vec4(pairs, 0.0, 0.0) : vec4(0.0, 0.0, pairs);
            } while (++at.x < end.x);
        } while (++at.y < end.y);
    } while (++at.z < end.z);
}
