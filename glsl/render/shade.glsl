// How the smoke of a cell looks from outside, per metre: x: sunlight scattered once, y: sunlight scattered
// often, z: light from all round, each as its share times the extinction; w: the extinction (1/m). Cells.
// Light scattered often is the sum of octaves of Wrenninge, Kulla & Lundqvist (2013): each scatters half the
// light of the one before at 0.4 times the extinction.
#include "lib/cell_sample.glsl" for scalars
#include "render/light_at.glsl" for sun
#include "render/light_at.glsl" for sky

const float THICKEST = 3e4;  // 1/m: opaque within a millimetre, and below the largest half float

uniform float extinction;    // 1/m per unit of density

out vec4 shade_out;

vec4 shaded(ivec3 cell, float density) {
    if (!(density > 0.0)) return vec4(0.0);
    vec3 place = vec3(cell) + 0.5;
    float coefficient = min(extinction * density, THICKEST);
    float sun = light_at_sun(place), sky = light_at_sky(place);
    float often = 0.3 * pow(sun, 0.4) + 0.1 * pow(sun, 0.16);
    return coefficient * vec4(sun, often, 0.08 + 0.6 * sqrt(sky), 1.0);
}

void main() {
    ivec3 cell = cell_index(ivec2(gl_FragCoord.xy));
    shade_out = vec4(0.0);
    if (cell.z >= cells.z) return;
#if SOLIDS
    if (fetch_solid(cell).w > 0.5) {
        // the mean of the fluid beside a solid, so that smoke does not thin out against its surface
        float open = 0.0;
        for (int side = 0; side < 2 * DIMENSIONS; ++side) {
            ivec3 beside = cell + step_along(side / 2) * (2 * (side & 1) - 1);
            if (beside != in_box(beside) || fetch_solid(beside).w > 0.5) continue;
            shade_out += shaded(beside, fetch_scalars(beside).x);
            open += 1.0;
        }
        shade_out /= max(open, 1.0);
        return;
    }
#endif
    shade_out = shaded(cell, fetch_scalars(cell).x);
}
