// Shares that one of several boxes leaves of the light on the floor, and of what is seen through it, to be multiplied with
// those of the others. CLEAR: where its smoke dims neither sun nor sky.
#include "lib/box.glsl"
#include "render/past_smoke.glsl"
#include "render/floor_place.glsl"

layout(location = 0) out vec4 shares_out;  // of the sun, of the sky, and of what stands behind the floor
layout(location = 1) out vec4 lamps_out;   // of each light beside the sun

void main() {
    shares_out = vec4(1.0);
    lamps_out = vec4(1.0);
    vec3 place;
    if (!floor_here(place)) return;
    shares_out.z = beyond_floor(place);
#if !CLEAR
    shares_out.x = sun_past_smoke(place);
    shares_out.y = 1.0 - shade_from_above(place);
#endif
#if OTHERS
    for (int k = 0; k < OTHERS; ++k) lamps_out[k] = other_past_smoke(k, place);
#endif
}
