// Density of all smoke in a place (cells): the plain one, and the coloured ones where there are any.
#include "lib/cell_sample.glsl" for scalars
#if COLORED
#include "lib/cell_sample.glsl" for color
#endif

// let_by: the share of light that solids let by there: none from their surface on, so that steps of a cell cannot pass
// a wall one cell thick.
float density_at(vec3 place, out float let_by) {
    vec4 mean = mean_scalars(place);
    float density = max(over_fluid_scalars(mean).x, 0.0);
#if COLORED
    density += dot(max(sample_color(place).xyz, 0.0), vec3(1.0));
#endif
    // without a solid the share of fluid is 1 but for rounding, and some 1e-5 of a texel beside the tile
    let_by = clamp(2.0 * mean.w - 0.9999, 0.0, 1.0);
    return density;
}
