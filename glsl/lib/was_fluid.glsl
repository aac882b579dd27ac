// Which cells are solid on the way back to where carried scalars come from: those that are now, or those that were when
// the step began. What a solid has come into since is not lost to the fluid that it pushes on: such a cell (COVERED:
// there are some) holds a quarter of all four channels until it has been carried.
// To be included before what looks for solids on a path or takes a mean.

#if COVERED
const int NOW = 0, EITHER = 1, THEN = 2;
int looks = NOW;  // of the path at hand
#define COUNTED (looks == NOW ? 0.5 : 0.2)
#define IS_SOLID(cell) stops(cell)

// Before a solid a path comes out of what it has just come into, behind it out of what it has just left: what it meets
// first tells where it is. So it never goes on to the other side.
bool stops(ivec3 cell) {
    bool now = fetch_solid(cell).x > 0.5;
    if (looks == NOW) return now;
    bool then = fetch_scalars(cell).w < 0.2;
    if (now == then || looks == THEN) return then;
    looks = now ? THEN : NOW;
    return false;
}
#endif

// From now on follow the flow back from a cell that held `before`.
void look_back(vec4 before) {
#if COVERED
    looks = before.w > 0.5 ? EITHER : NOW;
#endif
}
