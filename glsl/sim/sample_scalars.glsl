// Density, temperature and fuel at points, and 1 where there is fluid; all 0 in solids and outside the box. Points are in
// cells from the low corner.
#include "lib/box.glsl"
#include "lib/cell_sample.glsl" for scalars

void kernel(ivec3 index) {
    vec3 p = fetch_points(index).xyz;
    bool inside = p == clamp(p, vec3(0.0), vec3(cells));
#if SOLIDS
    inside = inside && fetch_solid(in_box(ivec3(floor(p)))).x < 0.5;
#endif
    sampled_out = inside ? vec4(sample_scalars(p).xyz, 1.0) : vec4(0.0);
}
