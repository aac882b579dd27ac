// The classical method of Runge & Kutta of fourth order (Kutta 1901) along the flow.
#include "lib/component.glsl" for velocity
#include "lib/clipped.glsl"
#include "render/kept_inside.glsl"

// Whether the way from `p` to `q` (cells) leads into a solid; then `q` becomes the last place before it.
bool stopped(vec3 p, inout vec3 q) {
    vec3 end = clipped(p, q);
    bool cut = end != q;
    if (cut && !any(lessThan(end, vec3(0.0))) && !any(greaterThan(end, vec3(cells)))) {
        q = end;
        return true;
    }
    return false;
}
