// Where anything may be after a stage: xy of each strip, and there or in one of the two stages before: zw.
// CARRIED: what was found before the flow carries it, and as far about as that reaches: the value of a cell is made
// of those less than a cell from where the flow brings it from. Else: what was there, and the boxes of sources.
#include "lib/box.glsl"
#include "lib/found.glsl"
#include "lib/quotient.glsl"
#include "lib/turns.glsl"
#ifdef LISTED
#include "lib/list_pieces.glsl"
#endif

uniform vec3 low[BOXES], high[BOXES];  // of sources, cells
uniform int box_count;
#if CARRIED
uniform float reach;      // cells per m/s
uniform vec3 walls;       // largest speeds of the sides, m/s
uniform int times;        // how often one stage after the other reaches so far
#endif

const int FAR = 24;       // cells: from there on everything may be reached

#if CARRIED
// The cells between those that matter to each other, along each axis; FAR or more: all.
ivec3 carried() {
    vec3 most = walls;
    int share = 0;
    do most = max(most, fetch_found(counted(share, strip_extent) + ivec3(0, 0, strip_extent.z)).xyz); while (++share < turns(SHARES));
    vec3 cells_off = float(times) * floor(reach * most * 1.001 + 1.05);  // rounding, and the bit that a clipped way is cut off
    return ivec3(mix(vec3(FAR), cells_off, lessThan(cells_off, vec3(FAR))));
}

int around(int n, int count) { return n - count * int(floor(float(n) / float(count))); }

// What is found in a row of strips, `away` cells along y from where it is, as far as it reaches the cells between
// `ends` in the rows between `rows`.
vec2 reaching(int group, int slice, int away, ivec3 off, vec2 ends, vec2 rows) {
    vec2 span = NOTHING;
    for (int x = 0; x < strip_extent.x; ++x) {
        vec4 found = fetch_found(ivec3(x, group, slice));
        vec2 there = found.xy, beside = found.zw + float(away) + vec2(-off.y, off.y);
        if (!(there.x < there.y && beside.x < rows.y && beside.y > rows.x)) continue;
        for (int n = -int(periodic.x); n <= int(periodic.x); ++n) {
            vec2 near = there + float(n * cells.x) + vec2(-off.x, off.x);
            span = joined(span, vec2(max(near.x, ends.x), min(near.y, ends.y)));
        }
    }
    return span;
}
#endif

void kernel(ivec3 strip) {
    ivec3 first = ivec3(STRIP_WIDTH, STRIP_ROWS, 1) * strip, last = min(first + ivec3(STRIP_WIDTH, STRIP_ROWS, 1), cells);
    vec2 ends = vec2(first.x, last.x), rows = vec2(first.y, last.y), span = NOTHING;
#if CARRIED
    ivec3 off = carried();
    bool all_of_it = any(greaterThanEqual(off, ivec3(FAR)));
    if (!all_of_it)
        for (int z = strip.z - off.z; z <= strip.z + off.z; ++z) {
            if (!periodic.z && (z < 0 || z >= cells.z)) continue;
            int slice = periodic.z ? around(z, cells.z) : z;
            if (periodic.y)
                for (int y = first.y - off.y; y < last.y + off.y; ++y) {
                    int row = around(y, cells.y);
                    span = joined(span, reaching(row / STRIP_ROWS, slice, y - row, off, ends, rows));
                }
            else {
                int end = (min(last.y + off.y, cells.y) - 1) / STRIP_ROWS;
                for (int y = max(first.y - off.y, 0) / STRIP_ROWS; y <= end; ++y)
                    span = joined(span, reaching(y, slice, 0, off, ends, rows));
            }
        }
    // what comes in through the sides
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        for (int way = 0; way < 2; ++way) {
            vec3 brought = entering[2 * axis + way];
            if (brought.x < 0.0 || (brought.x == 0.0 && (brought.z > 0.5 || brought.y == 0.0))) continue;
            bool reached = way == 0 ? first[axis] < off[axis] : last[axis] > cells[axis] - off[axis];
            if (axis > 0) all_of_it = all_of_it || reached;
            else span = joined(span, way == 0 ? vec2(ends.x, min(float(off.x), ends.y)) : vec2(max(float(cells.x - off.x), ends.x), ends.y));
        }
    if (all_of_it) span = ends;
#else
    span = fetch_last(strip).xy;
#endif
    for (int n = 0; n < box_count; ++n)
        if (all(lessThan(vec2(first.yz), high[n].yz)) && all(greaterThan(vec2(last.yz), low[n].yz)))
            span = joined(span, vec2(max(low[n].x, ends.x), min(high[n].x, ends.y)));
    span = span.x < span.y ? span : vec2(0.0);
    spans_out = vec4(span, joined(span, joined(fetch_last(strip).xy, fetch_before(strip).xy)));
#ifdef LISTED
    list_pieces(strip, spans_out.zw);
#endif
}
