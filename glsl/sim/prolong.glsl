// The pressure with the coarser grid's correction, m^2/s^2. Packed: four cells along x. Linear: a cell lies a quarter
// of the way from its coarse cell's centre to the next along each axis. Through a closed face nothing is taken; beyond
// an open side stands 0. A cell that is a coarse one by itself has that one's value.
#include "lib/pressure_operator.glsl"

uniform float reach;  // how far a cell is on the way from the coarse centre to where the pressure is 0

const ivec3 coarse_cells = (cells + 1) / 2;

// Corrections in the two coarse cells over a pack of four, in the coarse row of (y, z).
vec2 pair(int pack, int y, int z) {
    vec4 four = fetch_correction(ivec3(pack >> 1, y, z));
    return (pack & 1) == 0 ? four.xy : four.zw;
}

float at_x(int x, int y, int z) { return fetch_correction(ivec3(x >> 2, y, z))[x & 3]; }

// The coarse neighbour of cell `i` along an axis, and how much of it is taken: of the cell's own value, or of 0.
struct Beside {
    int at;
    float share;
    bool outside;
};

Beside beside(int i, int axis) {
    bool up = (i & 1) == 1;
    int at = (i >> 1) + (up ? 1 : -1), count = coarse_cells[axis];
    bool low = at < 0, high = at >= count;
    Beside b = Beside(at, 0.25, false);
    if (periodic[axis]) b.at += count * (int(low) - int(high));
    else if ((low && open_low[axis]) || (high && open_high[axis])) b = Beside(i / 2, reach, true);
    else if (low || high) b = Beside(i / 2, 0.0, false);
    if (i == cells[axis] - 1 && !up) b.share = 0.0;
    return b;
}

vec4 spread(vec2 two) { return two.xxyy; }

void kernel(ivec3 pack) {
    ivec3 c = ivec3(2 * pack.x, pack.yz >> 1);
    vec4 own = spread(pair(pack.x, c.y, c.z)), change = own;
    bvec4 open = bvec4(true);
#if WEIGHTED
    ivec4 lanes = min(4 * pack.x + ivec4(0, 1, 2, 3), cells.x - 1);
    vec4 diagonal;
#elif SOLIDS
    ivec4 bits = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    vec4 diagonal = vec4(bits & 63);
#else
    vec4 diagonal = open_count(pack);
#endif

    vec4 next, share;
    bvec4 outside;
    for (int lane = 0; lane < 4; ++lane) {
        Beside b = beside(min(4 * pack.x + lane, cells.x - 1), 0);
        next[lane] = b.outside ? 0.0 : at_x(b.at, c.y, c.z);
        share[lane] = b.share;
        outside[lane] = b.outside;
#if WEIGHTED
        int x = lanes[lane];
        vec4 w = fetch_weights(ivec3(x, pack.yz));
        diagonal[lane] = 4 * pack.x + lane < cells.x ? w.w : 0.0;
        float face = lane % 2 == 0 ? w.x : fetch_weights(ivec3(x + 1 == cells.x ? 0 : x + 1, pack.yz)).x;
        open[lane] = b.outside || face > 0.0;
#endif
    }
#if SOLIDS
    open = notEqual(bits & ivec4(1, 2, 1, 2), ivec4(0));
#endif
    change += mix(vec4(0.0), share * (next - own), open);

    Beside b = beside(pack.y, 1);
    next = b.outside ? vec4(0.0) : spread(pair(pack.x, b.at, c.z));
#if WEIGHTED
    ivec3 row = ivec3(0, pack.yz);
    if ((pack.y & 1) == 1) row.y = pack.y + 1 == cells.y ? 0 : pack.y + 1;
    for (int lane = 0; lane < 4; ++lane) {
        row.x = lanes[lane];
        open[lane] = b.outside || fetch_weights(row).y > 0.0;
    }
#elif SOLIDS
    open = notEqual(bits & ((pack.y & 1) == 0 ? 4 : 8), ivec4(0));
#endif
    change += mix(vec4(0.0), b.share * (next - own), open);

#if DIMENSIONS == 3
    b = beside(pack.z, 2);
    next = b.outside ? vec4(0.0) : spread(pair(pack.x, c.y, b.at));
#if WEIGHTED
    row = ivec3(0, pack.yz);
    if ((pack.z & 1) == 1) row.z = pack.z + 1 == cells.z ? 0 : pack.z + 1;
    for (int lane = 0; lane < 4; ++lane) {
        row.x = lanes[lane];
        open[lane] = b.outside || fetch_weights(row).z > 0.0;
    }
#elif SOLIDS
    open = notEqual(bits & ((pack.z & 1) == 0 ? 16 : 32), ivec4(0));
#endif
    change += mix(vec4(0.0), b.share * (next - own), open);
#endif

    pressure_out = mix(vec4(0.0), fetch_pressure(pack) + change, greaterThan(diagonal, vec4(0.0)));
}
