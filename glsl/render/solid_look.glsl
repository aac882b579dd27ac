// How a solid's surface looks: matt paint under a thin soft gloss, and what it glows with. Linear radiance.
// FIRE_ALONE: what the fire of another box adds to that, whose cells are then those of `cells`.
#include "render/lit.glsl"

uniform vec3 eye;         // cells; or, with a parallel projection, the way to the viewer
uniform bool parallel_view;

struct Matter {
    vec3 paint;           // albedo
    float sheen;          // how much of the gloss there is, 0 .. 1
    vec3 emission;
};

#if FIRE_ALONE
uniform vec4 among_others;  // place (cells) -> cells of the box of the fire: that of the first, and times the fourth
#endif

const float LIFT = 1.5;   // cells
const float LONGEST = 12.0;  // times as long as wide is what a pixel sees of a surface
const float DAZZLING = 6e4;  // below the largest half float

// facing: along the normal; right, up: how the place (cells) moves from one pixel to the next.
vec3 solid_look(vec3 place, vec3 facing, vec3 right, vec3 up, Matter matter) {
    vec3 n = normalize(facing);
    vec3 v = normalize(parallel_view ? eye : eye - place);
    if (dot(n, v) < 0.0) n -= 1.02 * dot(n, v) * v;  // a normal smoothed past the outline
    n = normalize(n);
#if FIRE_ALONE
    vec3 fire = glow_on(among_others.xyz + among_others.w * place + LIFT * n, n);
    return min((matter.paint + matter.sheen * gloss_all_round(max(dot(n, v), 0.0))) * fire, DAZZLING);
#else
    // a triangle seen on edge is not as long as it goes on for within a pixel
    vec3 across = cross(right, up);
    float within = min(LONGEST * abs(dot(across, v)) / max(length(across), 1e-20), 1.0);
    Lit lit = light_on(Spot(place, n, within * right, within * up, LIFT), v);
    vec3 reflected = lit.glossed + gloss_all_round(max(dot(n, v), 0.0)) * lit.around;
    vec3 light = lit.sun + lit.lamps + lit.around;
    return min(matter.paint * light + matter.sheen * reflected + matter.emission, DAZZLING);
#endif
}
