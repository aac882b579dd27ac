// What finite volumes go by (see transport_scalars.glsl), over blocks of BLOCK^3 cells, m/s. x: what axes take from a cell
// more than they bring, one after the other from the first to the last or back, at most. y: what all together leave or take,
// at most. z: how much the flow along an axis differs in the block and to the first cells of the next: it may do so just
// where blocks meet.
#include "lib/passing.glsl"
// unrolled, its 342 reads take all 256 registers that an AMD GPU has and 12 more; in loops 48 (RDNA 3, Mesa's compiler)
#define NEVER_UNROLLED
#include "lib/turns.glsl"

vec3 slowest = vec3(1e38), fastest = vec3(-1e38);

void note(vec3 flow) {
    slowest = min(slowest, flow);
    fastest = max(fastest, flow);
}

void kernel(ivec3 block) {
    const int SEEN = BLOCK + 1;
    ivec3 last = cells - 1, next = last + ivec3(periodic);
    float taken = 0.0, stray = 0.0;
    int row = 0;
    do {
        for (int x = 0; x < SEEN; ++x)
            note(passing_low(home(min(BLOCK * block + ivec3(x, row % SEEN, row / SEEN), next))));
    } while (++row < turns(SEEN * SEEN));
    row = 0;
    do {
        for (int x = 0; x < BLOCK; ++x) {
            ivec3 cell = min(BLOCK * block + ivec3(x, row % BLOCK, row / BLOCK), last);
            vec3 high = vec3(passing(cell + X, 0), passing(cell + Y, 1), DIMENSIONS == 3 ? passing(cell + Z, 2) : 0.0);
            note(high);
            vec3 lost = high - passing_low(cell);
            float all = lost.x + lost.y + lost.z, from_last = DIMENSIONS == 3 ? lost.z : lost.y;
            taken = max(taken, max(max(max(lost.x, lost.x + lost.y), max(from_last, all - lost.x)), all));
            stray = max(stray, abs(all));
        }
    } while (++row < turns(BLOCK * BLOCK));
    vec3 differs = fastest - slowest;
    asked_out = vec4(taken, stray, max(max(differs.x, differs.y), differs.z), 0.0);
}
