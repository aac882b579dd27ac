// Light on a surface of the scene: the sun and other lights, the light from all round and that of the fire, dimmed
// by smoke and solids. CLEAR: where neither the sun nor the sky is dimmed by anything.
#include "render/light_at.glsl" for sun
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
    vec3 sun, around;      // radiance of a white matt surface: by the sun, and by everything else
};

// Share of the light from above that smoke takes from a surface (place: cells). The light volume knows only
// what is straight above; under the sides of the box half the sky is clear, so the shade fades out there.
float shade_from_above(vec3 place) {
    vec2 half_size = 0.5 * vec2(cells.xz);
    float under = smoothstep(1.0, 0.3, length(place.xz / half_size - 1.0));
    return under > 0.0 ? under * (1.0 - sqrt(light_at_sky(place))) : 0.0;
}

// The sun's light left on a surface: the mean of four places half a cell aside, across its way. The edges of solids are
// stairs of cells; so wide a filter blots out those of two cells. Where two that lie across from each
// other see the same, no edge is near, or one on which the other two make up for each other.
float sun_left_at(vec3 place) {
#if STAIRS
    vec3 u = normalize(cross(sun_direction, abs(sun_direction.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
    vec3 v = cross(sun_direction, u);
    float sum = 0.0, across = 0.0;
    int n = 0;
    do {
        float left = light_at_sun(place + (n == 0 || n == 3 ? -0.5 : 0.5) * u + (n == 0 || n == 2 ? -0.5 : 0.5) * v);
        sum += left;
        across = left - across;
    } while (++n < turns(4) && !(n == 2 && abs(across) < 0.004));
    return sum / float(n);
#else
    return light_at_sun(place);
#endif
}

// place: cells; n: normal; lift: how far from the surface light is looked up, cells, which keeps a solid from
// standing in the shadow of its own cells.
Lit light_on(vec3 place, vec3 n, float lift) {
    float facing = max(-dot(n, sun_direction), 0.0);
    vec3 at = place + lift * n;
#if CLEAR
    float sun_left = 1.0, shade = 0.0;
#else
    float sun_left = facing > 0.0 ? sun_left_at(at - 0.5 * lift * sun_direction) : 0.0;
    float shade = shade_from_above(at + vec3(0.0, lift, 0.0));
#endif
    float up = 0.5 + 0.5 * n.y;
    Lit lit;
    lit.sun = sun_color * facing * sun_left;
    // from above the smoke lets less through; from below comes what the ground sends back
    lit.around = ambient * (0.35 + 0.65 * up * (1.0 - 0.75 * shade));
#if OTHERS
    for (int k = 0; k < OTHERS; ++k) {
        vec3 towards = towards_other(k, at);
        float faces = dot(n, towards) / max(length(towards), 1e-6);
        if (faces > 0.0) lit.around += faces * other_left(k, at) * strength_of_other(k, towards);
    }
#endif
#if FIRE
    lit.around += glow_on(at, n);
#endif
    return lit;
}
