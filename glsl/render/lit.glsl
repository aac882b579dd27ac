// Light on a surface of the scene: the sun and other lights, the light from all round and that of the fire, dimmed
// by smoke and solids. CLEAR: where neither the sun nor the sky is dimmed by anything.
#include "render/spot.glsl"
#include "render/gloss.glsl"
#include "render/light_at.glsl" for sun
#if SHADOWED || LAMPS_SHADOWED
#include "render/past_solids.glsl"
#endif
#include "render/light_at.glsl" for sky
#if OTHERS
#include "render/other_left.glsl"
#endif
#if FIRE
#include "render/glow_at.glsl"
#endif

uniform vec3 sun_color;    // radiance of a white surface that faces the light
uniform vec3 ambient;      // radiance from all round

struct Lit {
    vec3 sun, lamps, around;  // radiance of a white matt surface: by the sun, by the other lights, and by everything else
    vec3 glossed;             // radiance that a gloss throws back to the viewer, of sun and lamps
};

const float SUN_SOFT = 0.5;  // cells: with more or less teeth stay
const float OTHER_SOFT = 1.0;  // cells: of lights that are kept in cells of twice the size
const float SKY_SOFT = 2.0;  // cells: of the light from above one of its own volume

// Share of the light from above that smoke and solids take from a surface (place: cells). The light volume knows only
// what is straight above: the mean of four lookups round the place has soft edges, as the sky's shadows have, and shows no
// cells. Under the sides of the box half the sky is clear, so the shade fades out there.
float shade_from_above(vec3 place) {
    vec2 half_size = 0.5 * vec2(cells.xz);
    float under = 1.0 - smoothstep(0.3, 1.0, length(place.xz / half_size - 1.0)), sum = 0.0;
    if (under <= 0.0) return 0.0;
    int n = 0;
    do sum += sqrt(light_at_sky(place + SKY_SOFT * vec3(float(n & 1) * 2.0 - 1.0, 0.0, float(n + 1 & 2) - 1.0)));
    while (++n < turns(4) && !(n == 2 && sum == 2.0));  // two that lie apart, where all is clear
    return under * (1.0 - sum / float(n));
}

// Place `n` of four round a place that lie across the light of `way`, `off` cells from it to both sides.
vec3 across(vec3 way, int n, float off, vec3 place) {
    vec3 along = abs(way);
    bool x = along.x >= max(along.y, along.z), z = !x && along.z >= along.y;
    vec2 side = off * (vec2(n & 1, n + 1 >> 1 & 1) * 2.0 - 1.0);
    return place + (x ? vec3(0.0, side) : z ? vec3(side, 0.0) : vec3(side.x, 0.0, side.y));
}

// Share of the sun's light that smoke lets through to a surface. Light behind dense smoke is all or nothing from one column
// to the next, and an edge aslant of them would have teeth a column wide: the mean of four places that lie across it.
float sun_past_smoke(vec3 place) {
    float sum = 0.0;
    int n = 0;
    do sum += light_at_sun(across(sun_direction, n, SUN_SOFT, place));
    while (++n < turns(4) && !(n == 2 && sum == 2.0));  // two that lie apart, where there is no smoke
    return sum / float(n);
}

#if OTHERS
// The same of the light of `lamp`. Its way is that in the middle of the box: where another axis came to be the nearest
// there would be a seam.
float other_past_smoke(int lamp, vec3 place) {
    vec3 towards = towards_other(lamp, 0.5 * vec3(cells));
    float sum = 0.0;
    int n = 0;
    do sum += other_left(lamp, across(towards, n, OTHER_SOFT, place));
    while (++n < turns(4) && !(n == 2 && sum == 2.0));
    return sum / float(n);
}
#endif

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
