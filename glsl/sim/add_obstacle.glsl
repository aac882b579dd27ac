// Adds one obstacle to the solids. Cells; xyz: velocity of the solid (m/s), w: 1 inside.
// A cell is solid where its centre is inside. The velocity is (place now - place before) / dt.
#include "lib/box.glsl"

uniform int shape;         // 0 sphere, 1 box, 2 mesh (`winding` counts its surfaces)
uniform mat4 to_local;     // m from the low corner of the box -> the shape's own space
uniform vec3 center;       // of a sphere or box in its own space; of a mesh's bounds, m from the low corner
uniform vec3 extent;       // radius or half size, likewise
uniform mat4 motion;       // m from the low corner of the box -> velocity, m/s

void kernel(ivec3 cell) {
    vec4 place = vec4((vec3(cell) + 0.5) * cell_size, 1.0);
    vec3 q = (to_local * place).xyz - center;
    bool inside = shape == 0 ? dot(q, q) <= extent.x * extent.x
                : shape == 1 ? all(lessThanEqual(abs(q), extent))
                : abs(fetch_winding(cell).x) > 0.5 && all(lessThanEqual(abs(place.xyz - center), extent));
    solid_out = inside ? vec4((motion * place).xyz, 1.0) : fetch_solid(cell);
}
