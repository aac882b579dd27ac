// A path through the cells, cut short where it would enter a solid.
#include "lib/box.glsl"

#ifndef IS_SOLID
#define IS_SOLID(cell) (fetch_solid(cell).x > 0.5)
#endif

// `end`, or the last place before a solid or the first beyond a side on the straight way there from `start`
// (cells): what lies farther out would come in again on the other side of a solid that meets the side. Walks from cell to
// cell (Amanatides & Woo 1987), so that no solid is jumped, however thin; a place on a face belongs to the
// cell the way leads into.
vec3 clipped(vec3 start, vec3 end) {
#if SOLIDS
    vec3 way = end - start;
    bvec3 back = lessThan(way, vec3(0.0));
    ivec3 cell = ivec3(mix(floor(start), ceil(start) - 1.0, back));
    ivec3 stride = 1 - 2 * ivec3(back);
    vec3 inverse = 1.0 / mix(abs(way), vec3(1e-20), lessThan(abs(way), vec3(1e-20)));
    vec3 next = abs(mix(vec3(cell + 1) - start, start - vec3(cell), back)) * inverse;  // share of the way
    cell = wrapped(cell);  // or the next one may lie two boxes away, where the box is one cell long
    float share = min(next.x, min(next.y, next.z)), bit = 1e-3 / length(way);
    int n = 0;
    if (share < 1.0) do {  // asked for last, see turns.glsl
        ivec3 turn = next.x <= share ? X : next.y <= share ? Y : Z;
        cell = wrapped(cell + turn * stride);
        next += vec3(turn) * inverse;
        float met = share;
        share = min(next.x, min(next.y, next.z));
        if (cell != in_box(cell)) {
            end = start + (met + bit) * way;  // just beyond a side
            share = 1.0;
        } else if (IS_SOLID(cell)) {
            end = start + max(met - bit, 0.0) * way;
            share = 1.0;
        }
    } while (share < 1.0 && ++n < 3 * PATH);
#endif
    return end;
}
