// Light on a surface of the scene: the sun and other lights, the light from all round and that of the fire, dimmed
// by smoke and solids. CLEAR: where neither the sun nor the sky is dimmed by anything. GATHERED: through several boxes.
#include "render/spot.glsl"
#include "render/gloss.glsl"
#include "lib/turns.glsl"
#include "render/light_way.glsl" for sun
#if OTHERS
#include "render/other_lights.glsl"
#endif
#if SHADOWED || LAMPS_SHADOWED
#include "render/past_solids.glsl"
#endif
#if GATHERED
#include "render/gathered.glsl"
#else
#include "render/past_smoke.glsl"
#if FIRE
#include "render/glow_at.glsl"
#endif
#endif

uniform vec3 sun_color;    // radiance of a white surface that faces the light
uniform vec3 ambient;      // radiance from all round

struct Lit {
    vec3 sun, lamps, around;  // radiance of a white matt surface: by the sun, by the other lights, and by everything else
    vec3 glossed;             // radiance that a gloss throws back to the viewer, of sun and lamps
};

// The sun's light left on a surface by smoke and by solids, each of which knows nothing of the other.
float sun_left_at(Spot spot, float facing) {
    float left = 1.0;
#if SHADOWED
    left = sun_on_surface(spot, facing);
#endif
#if !CLEAR
    if (left > 0.0) left *= sun_past_smoke(spot.place);
#endif
    return left;
}

// v: the way to the viewer, unit length.
Lit light_on(Spot spot, vec3 v) {
    vec3 n = spot.n, at = spot.place + spot.lift * n;
    float facing = max(-dot(n, sun_direction), 0.0);
    float sun_left = facing > 0.0 ? sun_left_at(spot, facing) : 0.0;
#if CLEAR
    float shade = 0.0;
#else
    float shade = shade_from_above(spot.lift > 0.0 ? at + SKY_SOFT * n + vec3(0.0, spot.lift, 0.0) : at);
#endif
    float up = 0.5 + 0.5 * n.y;
    Lit lit;
    lit.sun = sun_color * facing * sun_left;
    lit.glossed = gloss_of(n, v, -sun_direction) * lit.sun;
    lit.lamps = vec3(0.0);
    // from above the smoke lets less through; from below comes what the ground sends back
    lit.around = ambient * (0.35 + 0.65 * up * (1.0 - 0.75 * shade));
#if OTHERS
    vec3 from = LAMPS_SHADOWED != 0 ? spot.place : at;
    for (int k = 0; k < OTHERS; ++k) {
        vec3 towards = towards_other(k, from);
        vec3 straight = towards / max(length(towards), 1e-6);
        float faces = dot(n, straight);
        if (faces <= 0.0) continue;
        float left = faces * other_past_smoke(k, from);
#if LAMPS_SHADOWED
        left *= lamp_on_surface(k, spot);
#endif
        vec3 light = left * strength_of_other(k, towards);
        lit.lamps += light;
        lit.glossed += gloss_of(n, v, straight) * light;
    }
#endif
#if FIRE
    lit.around += glow_on(at, n);
#endif
    return lit;
}
