// Shares of the light on a surface that the smoke of a box lets through.
#include "render/spot.glsl"
#include "render/light_at.glsl" for sun
#include "render/light_at.glsl" for sky
#if OTHERS
#include "render/other_left.glsl"
#endif

const float SUN_SOFT = 0.5;  // cells: with more or less teeth stay
const float OTHER_SOFT = 1.0;  // cells: of lights that are kept in cells of twice the size

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
