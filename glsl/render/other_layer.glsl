// Share of each light beside the sun that reaches a place, 0 .. 1, a light a channel: the way to the light
// is walked through smoke and solids (Beer-Lambert); LAMPS_SHADOWED: through smoke alone. Cells of twice the size, which
// stay in the world when the box moves on over them.
#include "render/density.glsl"
#include "render/other_lights.glsl"
#include "render/ray_box.glsl"
#if ENDS
#include "render/ends.glsl"
#endif
#if SOLIDS && !LAMPS_SHADOWED
#define STOPPED 1
#include "lib/solidity.glsl"
#else
#define STOPPED 0
#endif

uniform float extinction;    // 1/m per unit of density

out vec4 left_out;

const float STRIDE = STOPPED != 0 ? 1.0 : 2.0;  // cells; a wall may be one cell thick
const int MOST = 512;

float left_of_other(int n, vec3 place) {
    vec3 towards = towards_other(n, place);
    vec3 d = divisible(towards);
    vec3 ends = max(-place / d, (vec3(cells) - place) / d);
    float share = min(ends.x, min(ends.y, ends.z));  // of the way to the side of the box, or to the light
    if (other_places[n].w > 0.5) share = min(share, 1.0);
    float way = share * length(towards);
    int steps = clamp(int(ceil(way / STRIDE)), 1, MOST);
    float density = 0.0, clear = 1.0;
    ivec2 taken = ivec2(0, steps);
#if ENDS
    // of the steps those near what stops light, and one more on either side
    vec3 low, high;
    stopping_ends(low, high);
    vec3 a = (low - 0.5625 - place) / d, b = (high + 0.5625 - place) / d, least = min(a, b), most = max(a, b);
    vec2 held = vec2(max(least.x, max(least.y, least.z)), min(most.x, min(most.y, most.z)));
    held = clamp(held * (float(steps) / max(share, 1e-9)), -2.0, float(steps) + 2.0);
    taken = held.x <= held.y && low.x < high.x ? ivec2(max(int(floor(held.x)) - 1, 0), min(int(ceil(held.y)) + 1, steps)) : ivec2(0);
#endif
    for (int i = taken.x; i < taken.y; ++i) {
        vec3 at = place + towards * (share * (float(i) + 0.5) / float(steps));
        density += density_at(at);
#if STOPPED
        if (i > 0) clear *= let_by_solids(at);
#endif
    }
    return clear * exp(-extinction * cell_size * density * way / float(steps));
}

void main() {
    ivec3 index = others_index(ivec2(gl_FragCoord.xy));
    left_out = vec4(1.0);
    if (any(greaterThan(index, others_last()))) return;
    vec3 place = clamp(vec3(2 * index + 1 - others_lag), vec3(0.5), vec3(cells) - 0.5);
    left_out.x = left_of_other(0, place);
#if OTHERS > 1
    left_out.y = left_of_other(1, place);
#endif
#if OTHERS > 2
    left_out.z = left_of_other(2, place);
#endif
#if OTHERS > 3
    left_out.w = left_of_other(3, place);
#endif
}
