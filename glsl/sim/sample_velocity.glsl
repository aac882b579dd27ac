// The velocity at points, m/s, and 1 where they lie in the box; all 0 where they do not. Points are in cells from the
// low corner.
#include "lib/box.glsl"
#include "lib/component.glsl" for velocity

void kernel(ivec3 index) {
    vec3 p = fetch_points(index).xyz;
    bool inside = p == clamp(p, vec3(0.0), vec3(cells));
    sampled_out = inside ? vec4(at_velocity(p), 1.0) : vec4(0.0);
}
