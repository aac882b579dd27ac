// What finite volumes go by (see transport_scalars.glsl), over blocks of BLOCK^3 cells and the first of those after them,
// since flows may differ just where blocks meet, m/s. x: what axes take from a cell more than they bring, one after the
// other from the first to the last or back, at most. y: what all together leave or take, at most. z: how much the flow
// along an axis differs in the block.
#include "lib/passing.glsl"
#include "lib/turns.glsl"

vec3 slowest = vec3(1e38), fastest = vec3(-1e38);
float taken = 0.0, stray = 0.0;

void look_at(ivec3 cell) {
    vec3 low = vec3(0.0), high = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        low[axis] = passing(cell, axis);
        high[axis] = passing(cell + step_along(axis), axis);
    }
    vec3 lost = high - low;
    float all = lost.x + lost.y + lost.z, last = DIMENSIONS == 3 ? lost.z : lost.y;
    taken = max(taken, max(max(max(lost.x, lost.x + lost.y), max(last, all - lost.x)), all));
    stray = max(stray, abs(all));
    slowest = min(slowest, min(low, high));
    fastest = max(fastest, max(low, high));
}

void kernel(ivec3 block) {
    const int SEEN = BLOCK + 1;
    ivec3 last = cells - 1 + ivec3(periodic);
    int row = 0;
    do {
        for (int x = 0; x < SEEN; ++x)
            look_at(home(min(BLOCK * block + ivec3(x, row % SEEN, row / SEEN), last)));
    } while (++row < turns(SEEN * SEEN));
    vec3 differs = fastest - slowest;
    asked_out = vec4(taken, stray, max(max(differs.x, differs.y), differs.z), 0.0);
}
