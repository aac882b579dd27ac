// Light of the fire in a place; see fire_glow.glsl.
#include "render/fire_box.glsl"

// place: cells, inside the box. from: 0, or the first slice of where the light comes from.
vec4 glow_between(vec3 place, int from) {
    ivec3 last = min(2 * block_count(), ivec3(glow_extent.xy, glow_extent.z / 2)) - 1;
    vec3 q = clamp((place + vec3(block_lag)) * (2.0 / float(BLOCK_SIZE)) - 0.5, vec3(0.0), vec3(last));
    int low = int(q.z), high = min(low + 1, last.z);
    return mix(filtered_glow(q.xy, from + low), filtered_glow(q.xy, from + high), q.z - float(low));
}

// The mean radiance over all directions.
vec3 glow_inside(vec3 place) { return glow_between(place, 0).xyz; }

// Radiance of a white matt surface of normal `n` in or out of the box. Outside the fire is taken for one light where
// it seems to be, seen from the nearest place inside.
vec3 glow_on(vec3 place, vec3 n) {
    vec3 nearest = clamp(place, vec3(0.0), vec3(cells));
    vec4 from = glow_between(nearest, glow_extent.z / 2);
    float one_way = length(from.xyz), reach = from.w / cell_size;  // the share of light from one side; cells
    if (!(one_way > 0.0)) return vec3(0.0);
    vec3 way = nearest + from.xyz * (reach / one_way) - place;
    float off = max(length(way), 1e-3), further = min(reach / off, 1.0);
    // of light from all round a surface shows as much as that is, of light from one side four times the mean
    return glow_inside(nearest) * (further * further * mix(1.0, 4.0 * max(dot(n, way) / off, 0.0), one_way));
}
