// What comes in through the sides. Given by Python: `entering`, for each side its density, its temperature and
// 1 where that is the ambient one; a side that lets nothing in has a negative density.
#include "lib/box.glsl"

// True where `p` (cells) lies beyond a side that lets fluid in; `scalars` is then what it brings.
bool enters(vec3 p, inout vec3 scalars) {
    bool outside = false;
#if !ALL_WALLS
    for (int side = 0; side < 2 * DIMENSIONS; ++side) {
        float beyond = (side & 1) == 0 ? -p[side / 2] : p[side / 2] - float(cells[side / 2]);
        if (entering[side].x >= 0.0 && beyond > 0.0) {
            scalars = vec3(entering[side].x, entering[side].z > 0.5 ? ambient : entering[side].y, 0.0);
            outside = true;
        }
    }
#endif
    return outside;
}
