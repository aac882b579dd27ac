// How a solid's surface looks: matt paint under a thin soft gloss, and what it glows with. Linear radiance.
// Gloss: the microfacet distribution of Trowbridge & Reitz (1975), the visibility of Kelemen & Szirmay-Kalos
// (2001), the Fresnel term of Schlick (1994); of light from all round, the fit of Karis (2014).
#include "render/lit.glsl"

uniform vec3 eye;         // cells; or, with a parallel projection, the way to the viewer
uniform bool parallel_view;

struct Matter {
    vec3 paint;           // albedo
    float sheen;          // how much of the gloss there is, 0 .. 1
    vec3 emission;
};

const float ROUGHNESS = 0.38, GLOSS = 0.04;  // of the gloss; what it reflects head on
const float LIFT = 1.5;   // cells
const float LONGEST = 12.0;  // times as long as wide is what a pixel sees of a surface
const float DAZZLING = 6e4;  // below the largest half float

// Share of light from all round that the gloss throws back to where `nv` is the cosine of the way out.
float all_round(float nv) {
    const vec4 A = vec4(-1.0, -0.0275, -0.572, 0.022), B = vec4(1.0, 0.0425, 1.04, -0.04);
    vec4 r = ROUGHNESS * A + B;
    float grazing = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    return GLOSS * (r.z - 1.04 * grazing) + r.w + 1.04 * grazing;
}

// facing: along the normal; right, up: how the place (cells) moves from one pixel to the next.
vec3 solid_look(vec3 place, vec3 facing, vec3 right, vec3 up, Matter matter) {
    vec3 n = normalize(facing);
    vec3 v = normalize(parallel_view ? eye : eye - place);
    if (dot(n, v) < 0.0) n -= 1.02 * dot(n, v) * v;  // a normal smoothed past the outline
    n = normalize(n);
    // a triangle seen on edge is not as long as it goes on for within a pixel
    vec3 across = cross(right, up);
    float within = min(LONGEST * abs(dot(across, v)) / max(length(across), 1e-20), 1.0);
    Lit lit = light_on(Spot(place, n, within * right, within * up, LIFT));
    vec3 h = v - sun_direction;
    h *= inversesqrt(max(dot(h, h), 1e-20));  // 0 where one looks right into the sun
    float nh = max(dot(n, h), 0.0), vh = clamp(dot(v, h), 1e-3, 1.0), nv = max(dot(n, v), 0.0);
    float a2 = ROUGHNESS * ROUGHNESS * ROUGHNESS * ROUGHNESS, d = nh * nh * (a2 - 1.0) + 1.0;
    float fresnel = GLOSS + (1.0 - GLOSS) * pow(1.0 - vh, 5.0);
    float gloss = a2 / (d * d) * 0.25 / (vh * vh) * fresnel;  // times pi: sun_color is a radiance
    vec3 reflected = gloss * lit.sun + all_round(nv) * lit.around;
    return min(matter.paint * (lit.sun + lit.around) + matter.sheen * reflected + matter.emission, DAZZLING);
}
