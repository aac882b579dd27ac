// Where the way of a line that follows the flow ends.
#include "lib/clipped.glsl"
#include "render/kept_inside.glsl"

// Whether the way from `p` to `q` (cells) leads into a solid; then `q` becomes a place before it.
bool stopped(vec3 p, inout vec3 q) {
    vec3 end = clipped(p, q);
    bool outside = outside_box(end);
    bool cut = end != q && !outside;
    if (cut) q = end;
    if (!outside && in_solid(q)) {  // just on its face: the next step would begin inside
        q = mix(p, q, 0.999);
        if (in_solid(q)) q = p;
        cut = true;
    }
    return cut;
}
