// How the smoke of a cell looks to the camera: radiance it sends there per optical depth, and its extinction (1/m). Air has
// the light that smoke would have there, for look_at.glsl to look up between the two. Cells. COLORED: radiance per metre.
// SOFTENED: the root of the radiance, unless it is of colours.
// Light scattered often is the sum of octaves of Wrenninge, Kulla & Lundqvist (2013): two more, with 0.3 and 0.1 of the
// light of the first, at 0.4 and 0.16 of its extinction and half its anisotropy.
#include "render/each_cell.glsl"
#include "lib/cell_sample.glsl" for scalars
#include "render/light_at.glsl" for sun
#include "render/light_at.glsl" for sky
#if SHADOWED || LAMPS_SHADOWED
#include "render/past_solids.glsl"
#endif
#include "render/phase.glsl"
#include "render/fade.glsl"
#if OTHERS
#include "render/other_left.glsl"
#endif
#if FIRE
#include "render/glow_at.glsl"
#endif

const float BRIGHTEST = 6e4;  // below the largest half float
const float THICKEST = clamp(30.0 / cell_size, 3e3, BRIGHTEST);  // 1/m: opaque within a centimetre, or one cell

uniform float extinction;     // 1/m per unit of density
uniform float anisotropy;
uniform vec3 albedo;
uniform vec3 pigments[3];     // albedos of the coloured smoke
uniform vec3 sun, ambient;    // radiance of what scatters all that it takes from the sun, and from all round
uniform vec3 eye;             // cells; or, with a parallel projection, the way to the viewer
uniform bool parallel_view;

// Light of one source scattered towards the viewer, as a share; c: cosine of the angle it turns by.
float scattered(float left, float c) {
    return left * phase(c, anisotropy) + (0.3 * pow(left, 0.4) + 0.1 * pow(left, 0.16)) * phase(c, 0.5 * anisotropy);
}

vec4 shaded(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    float density = max(here.x, 0.0);
    vec3 color = albedo;
#if COLORED
    vec3 dye = max(fetch_color(cell).xyz, 0.0);
    float all = density + dye.x + dye.y + dye.z;
    color = (density * albedo + dye.x * pigments[0] + dye.y * pigments[1] + dye.z * pigments[2]) / max(all, 1e-20);
    density = all;
#endif
    vec3 place = vec3(cell) + 0.5;
    float thick = min(extinction * density * fade(place), THICKEST);
    vec3 viewer = parallel_view ? eye : eye - place;
    viewer = normalize(viewer == vec3(0.0) ? vec3(0.0, 1.0, 0.0) : viewer);  // the eye is right there: any way will do
    vec3 light = sun * scattered(light_inside_sun(place), dot(sun_direction, viewer));
#if SHADOWED
    light *= sun_in_cell(place);  // of a cell that a shadow's edge crosses, the share
#endif
    light += ambient * (0.08 + 0.6 * sqrt(light_inside_sky(place)));
#if OTHERS
    vec4 left = others_left(place);
    for (int n = 0; n < OTHERS; ++n) {
        vec3 towards = towards_other(n, place);
        float c = -dot(towards, viewer) / max(length(towards), 1e-6);
        float share = scattered(left[n], c);
#if LAMPS_SHADOWED
        share *= lamp_in_cell(n, place);
#endif
        light += 0.25 * share * strength_of_other(n, towards);
    }
#endif
#if FIRE
    light += glow_inside(place);
#endif
#if COLORED
    light *= thick;
#endif
    light = min(color * light, BRIGHTEST);
#if SOFTENED && !COLORED
    light = sqrt(light);
#endif
    return vec4(light, thick);
}

#if SOLIDS
ivec3 beside(int n) { return ivec3(n % 3, n / 3 % 3, n / 9) - 1; }  // one of the 27 cells round one
bool is_fluid(ivec3 cell) { return cell == in_box(cell) && !(fetch_solid(cell).x > 0.5); }
#endif

vec4 of_cell(ivec3 cell) {
#if SOLIDS
    // in a solid the mean of the fluid beside it, so that smoke neither thins out nor darkens against its surface: of the
    // cells that share a face with it; where there are none an edge, or a corner
    ivec3 seen = ivec3(0);  // a bit for each of the 27
    for (int n = is_fluid(cell) ? 27 : 0; n < 27; ++n) {
        ivec3 way = abs(beside(n));
        if (is_fluid(cell + beside(n))) seen |= ivec3(equal(ivec3(way.x + way.y + way.z), ivec3(1, 2, 3))) << n;
    }
    int bits = seen.x != 0 ? seen.x : seen.y != 0 ? seen.y : seen.z != 0 ? seen.z : 1 << 13;  // or the cell itself
    float count = 0.0;
    vec4 sum = vec4(0.0);
    do {
        int lowest = bits & -bits;
        sum += shaded(cell + beside(int(log2(float(lowest)) + 0.5)));
        bits -= lowest;
        count += 1.0;
    } while (bits != 0);
    return sum / count;
#else
    return shaded(cell);
#endif
}
