// Density of all smoke in a place (cells), as far as it shows: the plain one, and the coloured ones where there are any.
#include "lib/cell_sample.glsl" for scalars
#if COLORED
#include "lib/cell_sample.glsl" for color
#endif
#include "render/fade.glsl"
#include "render/edge.glsl"

float density_at(vec3 place) {
    float density = max(sample_scalars(place).x, 0.0);
#if COLORED
    density += dot(max(sample_color(place).xyz, 0.0), vec3(1.0));
#endif
    density *= fade(place);
    return density * edged(density);
}
