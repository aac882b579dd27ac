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
    for (int n = 0; n < 3 * PATH; ++n) {
        float share = min(next.x, min(next.y, next.z));
        if (share >= 1.0) break;
        ivec3 turn = next.x <= share ? X : next.y <= share ? Y : Z;
        cell += turn * stride;
        ivec3 at = wrapped(cell);
        float bit = 1e-3 / length(way);
        if (at != in_box(at)) return start + (share + bit) * way;  // just beyond a side
        if (IS_SOLID(at)) return start + max(share - bit, 0.0) * way;
        next += vec3(turn) * inverse;
    }
#endif
    return end;
}
