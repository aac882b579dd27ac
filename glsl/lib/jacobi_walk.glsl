// SWEEPS weighted Jacobi sweeps of laplacian(pressure) = divergence / dt, m^2/s^2, in one pass: what sim/jacobi.glsl does in
// as many, of each of which a GPU waits for its memory. Packed: four cells along x.
// A workgroup writes a BLOCK of packs. It walks up through the slices of that, an invocation a column of packs, each sweep
// one slice behind the one before (3.5-D blocking; Nguyen, Satish, Chhugani, Kim & Dubey 2010): of a sweep an invocation
// holds its two latest packs, and all see the later of them in their neighbours' columns. Round the block a workgroup sweeps
// what its own cells need as well: SWEEPS rows and slices, and a pack, in which wrong values come one cell nearer a sweep.
#include "lib/jacobi_sweep.glsl"
#pragma optionNV(unroll all)  // for NVIDIA: arrays that are not unrolled do not lie in registers

uniform float weights[SWEEPS];

const ivec3 block = ivec3(BLOCK_COLUMNS, BLOCK_ROWS, BLOCK_SLICES), rim = ivec3(1, SWEEPS, SWEEPS);
const int wide = BLOCK_COLUMNS + 2, high = BLOCK_ROWS + 2 * SWEEPS;

shared vec4 plane[SWEEPS * wide * high];  // of each sweep but the last the latest slice, and of what is swept

// The pack to read for a place that may lie beyond the box.
ivec3 pack_of(ivec3 place) { return readable(readable(readable(place, 0), 1), 2); }

void kernel(ivec3 group) {
    ivec2 lane = ivec2(gl_LocalInvocationID.xy), last_lane = ivec2(wide, high) - 1;
    ivec3 first = group * block, last = min(first + block, packed_extent);
    ivec3 place = ivec3(lane, 0) + first - rim;
    bool writes = all(greaterThanEqual(place.xy, first.xy)) && all(lessThan(place.xy, last.xy));
    int at = lane.y * wide + lane.x;
    int before = at - min(lane.x, 1), after = at + min(last_lane.x - lane.x, 1);
    int below = at - wide * min(lane.y, 1), above = at + wide * min(last_lane.y - lane.y, 1);
    vec4 latest[SWEEPS], earlier[SWEEPS], right[SWEEPS];  // right sides of the slices that are swept next
    for (int s = 0; s < SWEEPS; ++s) {
        latest[s] = earlier[s] = right[s] = vec4(0.0);
        plane[s * wide * high + at] = vec4(0.0);
    }
    memoryBarrierShared();
    barrier();
    vec4 ahead = fetch_pressure(pack_of(ivec3(place.xy, first.z - SWEEPS)));
    for (int z = first.z - SWEEPS; z < last.z + SWEEPS; ++z) {
        // what memory is asked for here is used one slice later
        vec4 now = ahead, divergence = fetch_divergence(pack_of(ivec3(place.xy, z)));
        ahead = fetch_pressure(pack_of(ivec3(place.xy, z + 1)));
        for (int s = 0; s < SWEEPS; ++s) {
            int here = s * wide * high;
            vec4 p = latest[s];
            ivec3 pack = pack_of(ivec3(place.xy, z - s - 1));
            Neighbours n = along_x(pack, p, plane[here + before], plane[here + after]);
            n.ym = or_beyond(plane[here + below], pack - Y, 1, p);
            n.yp = or_beyond(plane[here + above], pack + Y, 1, p);
            n.zm = or_beyond(earlier[s], pack - Z, 2, p);
            n.zp = or_beyond(now, pack + Z, 2, p);
            earlier[s] = p;
            latest[s] = now;
            now = kept(swept(p, in_the_open(n, pack, p), right[s], weights[s]));
        }
        for (int s = SWEEPS - 1; s > 0; --s) right[s] = right[s - 1];
        right[0] = divergence;
        if (writes && z - SWEEPS >= first.z) put(ivec3(place.xy, z - SWEEPS), now);
        memoryBarrierShared();
        barrier();  // all have read the planes
        for (int s = 0; s < SWEEPS; ++s) plane[s * wide * high + at] = latest[s];
        memoryBarrierShared();
        barrier();
    }
}
