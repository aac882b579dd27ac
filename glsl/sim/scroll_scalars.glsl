// The scalars in a box that has been moved on by whole cells; what comes in is what the sides bring. Cells.
#include "lib/came_from.glsl"

uniform float ambient;  // temperature of the surroundings

#include "lib/entering.glsl"

void kernel(ivec3 cell) {
    ivec3 from = came_from(cell);
    if (from == in_box(from)) {
        scalars_out = fetch_scalars(from);
        return;
    }
    vec3 fresh = vec3(0.0, ambient, 0.0);
    enters(vec3(cell + shift) + 0.5, fresh);
    scalars_out = vec4(fresh, 1.0);
}
