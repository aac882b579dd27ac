// What comes in through the sides. Given by Python: `entering`, for each side its density, its temperature and
// 1 where that is the ambient one; a side that lets nothing in has a negative density.
#include "lib/box.glsl"

// What a side brings, and 1; nothing where it lets nothing in.
vec4 brought(int side) {
    vec3 some = entering[side];
    return some.x < 0.0 ? vec4(0.0) : vec4(some.x, some.z > 0.5 ? ambient : some.y, 0.0, 1.0);
}

// Whether `p` (cells) is among what a side that lets fluid in brings; to `scalars`, those found at `p`, comes their
// share of that. Beyond the side lies a cell of it, whose values go over into those of the first cell from centre to
// centre: else nothing would come in that comes less than half a cell a step.
bool enters(vec3 p, inout vec3 scalars) {
    bool among = false;
#if !ALL_WALLS
    for (int side = 0; side < 2 * DIMENSIONS; ++side) {
        float beyond = (side & 1) == 0 ? -p[side / 2] : p[side / 2] - float(cells[side / 2]);
        if (entering[side].x >= 0.0 && beyond > -0.5) {
            scalars = mix(scalars, brought(side).xyz, min(beyond + 0.5, 1.0));
            among = among || beyond > -0.499;  // not for rounding, of air that stands still
        }
    }
#endif
    return among;
}
