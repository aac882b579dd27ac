// Which coarse cells a cell is interpolated between: it lies a quarter of the way from its coarse cell's centre to the
// next along each axis, and half way to the side of the box, where it is at one.
#include "lib/box.glsl"

// The coarse neighbour of cell `i` along an axis, and how much of it is taken: of the cell's own value, or of 0.
// odd: 1 where the cell next to `i` there is an odd one, else 0.
struct Beside {
    int at;
    float share;
    bool outside;
    int odd;
};

Beside beside(int i, int axis) {
    bool up = (i & 1) == 1;
    int at = (i >> 1) + (up ? 1 : -1), count = (cells[axis] + 1) / 2, next = i + (up ? 1 : -1);
    bool low = at < 0, high = at >= count;
    if (next < 0) next += cells[axis];
    else if (next == cells[axis]) next = 0;
    Beside b = Beside(at, 0.25, false, next & 1);
    if (periodic[axis]) b.at += count * (int(low) - int(high));
    else if ((low && open_low[axis]) || (high && open_high[axis])) b = Beside(i / 2, 0.5, true, 0);
    else if (low || high) b = Beside(i / 2, 0.0, false, 0);
    if (i == cells[axis] - 1 && !up) b.share = 0.0;
    return b;
}
