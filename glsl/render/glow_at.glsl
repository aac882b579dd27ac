// Light of the fire in a place, as the mean radiance over all directions; see fire_glow.glsl.
#include "lib/box.glsl"

vec3 glow_inside(vec3 place) {
    vec3 q = clamp(place * (2.0 / float(BLOCK_SIZE)) - 0.5, vec3(0.0), vec3(glow_extent - 1));
    int low = int(q.z), high = min(low + 1, glow_extent.z - 1);
    return mix(filtered_glow(q.xy, low), filtered_glow(q.xy, high), q.z - float(low)).xyz;
}

// In or out of the box; outside it fades with the distance from the box, as from a light in its middle.
vec3 glow_at(vec3 place) {
    vec3 nearest = clamp(place, vec3(0.0), vec3(cells));
    float middle = 0.5 * float(min(cells.x, min(cells.y, cells.z))), near = middle / (middle + length(place - nearest));
    return glow_inside(nearest) * near * near;
}
