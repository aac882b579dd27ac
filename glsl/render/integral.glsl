// Light that matter sends out along a way, and what it hides: premultiplied radiance and opacity. Extinction, radiance and heat
// run evenly from what its near end looks like to what its far end does (see look_at.glsl). Smoke sends out what it does in
// one place: where the share of the optical depth before it is the mean over the light that gets out, 1/depth - 1/(exp(depth) - 1)
// to 6 %. Of fire more gets out before a cliff of smoke than behind it: it counts as in even smoke that lets as much out.
// FIRE_SOFT: where smoke hides part of the way, fire bends as that of the heat halfway does (Simpson's rule), or slabs would show
// as rings; in clear air the ends alone are nearest to the sum over all slabs.
// way: m. Twins: `integral` of reference_light.py and `through` of reference_fire.py.
#include "render/look_at.glsl"
#include "lib/lost.glsl"

// The mean of where light comes from that gets out of even smoke, as a share of the way.
float mean_of(float depth) { return (9.0 + depth) / (18.0 + depth * (5.0 + depth)); }

vec4 integral(Look near, Look far, float way) {
    float a = near.smoke.w, b = far.smoke.w, depth = 0.5 * (a + b) * way;
    float hidden = lost(depth);
    float mean = mean_of(depth);
    float place = (a + b) * mean / max(a + sqrt(mix(a * a, b * b, mean)), 1e-20);
    vec4 there = mix(near.smoke, far.smoke, place);
    vec3 light = there.rgb * (hidden / max(there.w, 1e-20));
#if FIRE
    // to the 2nd order of the depth; with one clear end, and a depth of 2, to 5 %
    float bend = (a - b) * way * depth / (36.0 + 3.0 * depth), even = (2.0 * a + b) * way / 3.0 + bend;
    float all = even > 0.02 ? (1.0 - exp(-even)) / even : 1.0 - 0.5 * even;
    float from_far = mean_of(depth + bend);
    vec3 sent = mix(near.fire, far.fire, from_far);
#if FIRE_SOFT
    vec3 halfway = fire_of(0.5 * (near.heat + far.heat));
    sent += hidden * from_far * (2.0 / 3.0) * (2.0 * halfway - near.fire - far.fire);
#endif
    light += way * all * sent;
#endif
    return vec4(light, hidden);
}
