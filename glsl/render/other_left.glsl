// Share of each light beside the sun that reaches a place: trilinear between the cells of other_layer.glsl.
#include "lib/box.glsl"
#include "render/other_lights.glsl"

vec4 others_left(vec3 place) {
    ivec3 last = others_last();
    vec3 q = clamp(0.5 * (place + vec3(others_lag)) - 0.5, vec3(0.0), vec3(last));
    int low = int(q.z), high = min(low + 1, last.z);
    return mix(filtered_others(q.xy, low), filtered_others(q.xy, high), q.z - float(low));
}

// The same for light `n` alone, in or out of the box: outside, what is left where the way to the light enters it.
float other_left(int n, vec3 place) {
    vec3 towards = towards_other(n, place);
    vec3 d = mix(towards, vec3(1e-6), lessThan(abs(towards), vec3(1e-6)));
    vec3 a = -place / d, b = (vec3(cells) - place) / d;
    vec3 low = min(a, b), high = max(a, b);
    float near = max(max(low.x, low.y), max(low.z, 0.0)), far = min(high.x, min(high.y, high.z));
    if (near > far || (near >= 1.0 && other_places[n].w > 0.5)) return 1.0;
    return others_left(place + near * towards)[n];
}
