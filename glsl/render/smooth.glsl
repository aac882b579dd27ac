// The field `shown` as the cubic B-spline of its values has it at the cell centres: each value and its neighbours
// 1 : 4 : 1 along each axis. Solids do not count; w as before.
#include "lib/box.glsl"

out vec4 shown_out;

void main() {
    ivec3 cell = cell_index(ivec2(gl_FragCoord.xy));
    shown_out = vec4(0.0);
    if (cell.z >= cells.z) return;
    const int deep = DIMENSIONS == 3 ? 1 : 0;
    vec2 sum = vec2(0.0);
    for (int z = -deep; z <= deep; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x) {
                float weight = float((4 - 3 * abs(x)) * (4 - 3 * abs(y)) * (4 - 3 * abs(z)));
                vec4 here = fetch_shown(neighbour(cell + ivec3(x, y, z)));
                sum += weight * here.w * vec2(here.x, 1.0);
            }
    shown_out = vec4(sum.x / max(sum.y, 1e-6), 0.0, 0.0, 1.0) * fetch_shown(cell).w;
}
