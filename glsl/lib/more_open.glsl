// What the sides of the box add to the number of open neighbours of cells at them. An open one counts twice: p = 0 on
// it is half as far away as the centre of a neighbour.
#include "lib/box.glsl"

#if SOLIDS
#include "lib/counted_bits.glsl"

const vec3 more_low = vec3(open_low), more_high = vec3(open_high);  // to bits, which count it once
#else
const vec3 more_low = vec3(periodic) + 2.0 * vec3(open_low) - 1.0;  // to one neighbour on every side
const vec3 more_high = vec3(periodic) + 2.0 * vec3(open_high) - 1.0;
#endif

// Of a row along x without its ends.
float more_across(ivec3 pack) {
    float more = 0.0;
    if (pack.y == 0) more += more_low.y;
    if (pack.y == cells.y - 1) more += more_high.y;
#if DIMENSIONS == 3
    if (pack.z == 0) more += more_low.z;
    if (pack.z == cells.z - 1) more += more_high.z;
#endif
    return more;
}
