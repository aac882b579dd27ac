// The span of each strip after a stage, xy, and the one that also holds those of the two stages before, zw.
// CARRIED: what was found before the flow carries it, and as far about as that reaches: the value of a cell is made
// of those less than a cell from where the flow brings it from. Else: those of the latest stage, and the boxes of sources.
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

vec4 whole = NOTHING;     // of a strip: all its cells

vec4 clipped(vec4 span) {
    vec4 inside = vec4(max(span.xz, whole.xz), min(span.yw, whole.yw)).xzyw;
    return all(lessThan(inside.xz, inside.yw)) ? inside : NOTHING;
}

#if CARRIED
// The cells between those that matter to each other, along each axis; FAR or more: all.
ivec3 carried() {
    vec3 most = walls;
    int share = 0;
    do most = max(most, fetch_found(counted(share, strip_extent) + ivec3(0, 0, strip_extent.z)).xyz); while (++share < turns(SHARES));
    vec3 cells_off = float(times) * floor(reach * most * 1.001 + 1.05);  // rounding, and the bit that a clipped way is cut off
    return ivec3(mix(vec3(FAR), cells_off, lessThan(cells_off, vec3(FAR))));
}

// From half a place further on: GPUs divide by a product, and 41 times 1 / 41 is less than 1. The loop below would not end.
int around(int n, int count) { return n - count * int(floor((float(n) + 0.5) / float(count))); }

// What is found in a row of strips, `away` cells along y from where it is, as far as it reaches.
vec4 reaching(int group, int slice, float away, ivec3 off) {
    vec4 span = NOTHING;
    for (int x = 0; x < strip_extent.x; ++x) {
        vec4 found = fetch_found(ivec3(x, group, slice));
        if (!(found.x < found.y)) continue;
        found += vec4(-off.x, off.x, away - float(off.y), away + float(off.y));
        for (int n = -int(periodic.x); n <= int(periodic.x); ++n)
            span = joined(span, clipped(found + float(n * cells.x) * vec4(1.0, 1.0, 0.0, 0.0)));
    }
    return span;
}
#endif

void kernel(ivec3 strip) {
    ivec3 size = ivec3(STRIP_WIDTH, STRIP_ROWS, 1), first = size * strip, last = min(first + size, cells);
    whole = vec4(first.x, last.x, first.y, last.y);
    vec4 span = NOTHING, latest = span_between(fetch_last(strip).xy, first.xy);
#if CARRIED
    ivec3 off = carried();
    bool all_of_it = any(greaterThanEqual(off, ivec3(FAR)));
    if (!all_of_it)
        for (int z = strip.z - off.z; z <= strip.z + off.z; ++z) {
            if (!periodic.z && (z < 0 || z >= cells.z)) continue;
            int slice = periodic.z ? around(z, cells.z) : z;
            int y = first.y - off.y, end = last.y + off.y;
            if (!periodic.y) {
                y = max(y, 0);
                end = min(end, cells.y);
            }
            do {  // a strip that lies there, or part of it, and on to where the next begins
                int row = periodic.y ? around(y, cells.y) : y, group = row / STRIP_ROWS;
                span = joined(span, reaching(group, slice, float(y - row), off));
                y += min((group + 1) * STRIP_ROWS, cells.y) - row;
            } while (y < end);
        }
    // what comes in through the sides
    for (int axis = 0; axis < DIMENSIONS; ++axis)
        for (int way = 0; way < 2; ++way) {
            vec3 brought = entering[2 * axis + way];
            if (brought.x < 0.0 || (brought.x == 0.0 && (brought.z > 0.5 || brought.y == 0.0))) continue;
            vec4 room = whole;
            if (axis == 2) all_of_it = all_of_it || (way == 0 ? strip.z < off.z : strip.z >= cells.z - off.z);
            else if (way == 0) room[2 * axis + 1] = float(off[axis]);
            else room[2 * axis] = float(cells[axis] - off[axis]);
            if (axis < 2) span = joined(span, clipped(room));
        }
    if (all_of_it) span = whole;
#else
    span = latest;
#endif
    for (int n = 0; n < box_count; ++n)
        if (float(strip.z) < high[n].z && float(strip.z + 1) > low[n].z)
            span = joined(span, clipped(vec4(low[n].x, high[n].x, low[n].y, high[n].y)));
#if CARRIED
    vec4 lately = joined(span, joined(latest, span_between(fetch_before(strip).xy, first.xy)));
#else
    vec4 lately = joined(span, span_between(fetch_last(strip).zw, first.xy));
#endif
    spans_out = vec4(corners_of(span, first.xy), corners_of(lately, first.xy));
#ifdef LISTED
    list_pieces(lately, strip.z);
#endif
}
