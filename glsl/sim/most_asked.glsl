// What cells are asked for at most between two axes of transport_scalars, m/s, over blocks of BLOCK^3: what leaves them along
// one, and what the axes before have taken more than they brought, from the first axis to the last or back. First channel.
#include "lib/box.glsl"
#include "lib/turns.glsl"

float asked_of(ivec3 cell) {
    vec3 low = fetch_velocity(cell).xyz, high = vec3(fetch_velocity(cell + X).x, fetch_velocity(cell + Y).y, 0.0);
#if DIMENSIONS == 3
    high.z = fetch_velocity(cell + Z).z;
#endif
    vec3 leaves = max(high, 0.0) + max(-low, 0.0), lost = high - low;
#if DIMENSIONS == 3
    vec3 most = leaves + vec3(max(0.0, lost.y + lost.z), max(lost.x, lost.z), max(0.0, lost.x + lost.y));
    return max(max(most.x, most.y), most.z);
#else
    vec2 most = leaves.xy + max(lost.yx, 0.0);
    return max(most.x, most.y);
#endif
}

void kernel(ivec3 block) {
    float most = 0.0;
    ivec3 last = cells - 1;
    int row = 0;
    do {
        for (int x = 0; x < BLOCK; ++x)
            most = max(most, asked_of(min(BLOCK * block + ivec3(x, row % BLOCK, row / BLOCK), last)));
    } while (++row < turns(BLOCK * BLOCK));
    asked_out = vec4(most, 0.0, 0.0, 0.0);
}
