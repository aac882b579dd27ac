// The span of each strip that holds anything. Rest is 0 in all three channels. In the slices behind the box: the largest
// of the speeds of blocks in every SHARES-th slice of blocks, m/s; those of the time before where the flow is as it was.
#include "lib/box.glsl"
#include "lib/found.glsl"
#include "lib/turns.glsl"

uniform bool everywhere;  // look at all cells, not only at those that `known` says may hold something
uniform bool steady;      // the speeds are those of the time before

vec4 fastest(int share) {
    vec4 most = vec4(0.0);
    ivec3 block = ivec3(0, 0, share);
    do {
        block.y = 0;
        do {
            block.x = 0;
            do most = max(most, fetch_speed(block)); while (++block.x < turns(block_extent.x));
        } while (++block.y < turns(block_extent.y));
    } while ((block.z += SHARES) < block_extent.z);
    return most;
}

bool nothing(ivec3 cell) {
#if COLORED
    if (fetch_color(cell).xyz != vec3(0.0)) return false;
#endif
    return fetch_scalars(cell).xyz == vec3(0.0);
}

void kernel(ivec3 strip) {
    if (strip.z >= strip_extent.z) {
        int share = ((strip.z - strip_extent.z) * strip_extent.y + strip.y) * strip_extent.x + strip.x;
        if (share < SHARES) {
            if (steady) found_out = fetch_before(strip);
            else found_out = fastest(share);
        }
        return;
    }
    ivec2 size = ivec2(STRIP_WIDTH, STRIP_ROWS), first = strip.xy * size, last = min(first + size, cells.xy);
    if (!everywhere) {
        vec4 known = span_between(fetch_known(strip).zw, first);
        first = ivec2(known.xz);
        last = ivec2(known.yw);
    }
    found_out = NOTHING;
    for (int y = first.y; y < last.y; ++y) {  // each row from both ends: what lies between counts all the same
        int low = first.x, high = last.x;
        while (low < high && nothing(ivec3(low, y, strip.z))) ++low;
        int enough = max(low, int(found_out.y));
        while (high > enough && nothing(ivec3(high - 1, y, strip.z))) --high;
        if (low < high) found_out = joined(found_out, vec4(low, high, y, y + 1));
    }
}
