// Share of each light beside the sun that reaches a place: trilinear between the cells of other_layer.glsl.
#include "lib/box.glsl"
#include "render/other_lights.glsl"
#include "render/ray_box.glsl"

vec4 others_left(vec3 place) {
    ivec3 last = others_last();
    vec3 q = clamp(0.5 * (place + vec3(others_lag)) - 0.5, vec3(0.0), vec3(last));
    int low = int(q.z), high = min(low + 1, last.z);
    return mix(filtered_others(q.xy, low), filtered_others(q.xy, high), q.z - float(low));
}

// The same for light `n` alone, in or out of the box: outside, what is left where the way to the light enters it.
float other_left(int n, vec3 place) {
    vec3 towards = towards_other(n, place);
    vec2 way = between_corners(place, divisible(towards), vec3(0.0), vec3(cells), 0.0);
    if (way.x > way.y || (way.x >= 1.0 && other_places[n].w > 0.5)) return 1.0;
    return others_left(place + way.x * towards)[n];
}
