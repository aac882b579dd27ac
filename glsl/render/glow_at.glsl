// Light of the fire in a place; see fire_glow.glsl.
#include "render/fire_box.glsl"

ivec3 last_glow() { return min(2 * block_count(), ivec3(glow_extent.xy, glow_extent.z / 2)) - 1; }

// A place among the cells of the glow.
vec3 among_glow(vec3 place) { return (place + vec3(block_lag)) * (2.0 / float(BLOCK_SIZE)) - 0.5; }

// The mean radiance over all directions; place: cells, inside the box.
vec3 glow_inside(vec3 place) {
    ivec3 last = last_glow();
    vec3 q = clamp(among_glow(place), vec3(0.0), vec3(last));
    int low = int(q.z), high = min(low + 1, last.z);
    return mix(filtered_glow(q.xy, low), filtered_glow(q.xy, high), q.z - float(low)).xyz;
}

// Light from a wide side, of which a surface sees less and less as it turns away: how many times the mean over all
// directions it then shows. across: cosine of the angle to the middle. directed: length of the mean of the directions. They
// are taken for a cap of even light, all of which a surface sees that faces it: 4 directed across; else what is above the
// horizon, to second order. The rest, of light from nearly all round, shows as much as it is.
float seen_of_side(float across, float directed) {
    float wide2 = 4.0 * directed * (1.0 - directed), wide = sqrt(max(wide2, 1e-6));  // sine of the cap's angle
    float above = clamp(across + wide, 0.0, 2.0 * wide);
    float seen = across > wide ? across : 0.25 * above * above / wide;
    return 4.0 * directed * seen + max(1.0 - directed * (1.0 + wide2 / 3.0), 0.0);
}

// Radiance of a white matt surface of normal `n` in or out of the box. For each of the cells round it the fire is one
// light where it seems to be from there: how its light falls off and where it comes from is then worked out for the
// place itself, and the cells do not show. Such as a solid hides from the fire and lie behind the surface do not count: what
// lies behind a wall would darken the side that faces the fire.
vec3 glow_on(vec3 place, vec3 n) {
    const float soft2 = SOFT * float(BLOCK_SIZE * BLOCK_SIZE);  // cells^2
    const int deep = glow_extent.z / 2;
    ivec3 last = last_glow();
    vec3 q = clamp(among_glow(place), vec3(0.0), vec3(last));
    ivec3 low = ivec3(q);
    vec3 share = q - vec3(low), sum = vec3(0.0);
    float lost = 0.0;  // of the weights: behind the surface, and hidden from the fire by a solid
    for (int corner = 0; corner < 8; ++corner) {
        ivec3 side = ivec3(corner, corner >> 1, corner >> 2) & 1, index = min(low + side, last);
        vec3 near = mix(1.0 - share, share, vec3(side));
        float weight = near.x * near.y * near.z;
        if (!(weight > 0.0)) continue;  // so it is with most beside the box
        vec4 light = weight * fetch_glow(index);
        vec4 from = fetch_glow(ivec3(index.xy, index.z + deep));
        float one_way = length(from.xyz), reach = from.w / cell_size;  // the share of light from one side; cells
        if (!(one_way > 0.0)) continue;
        vec3 its = (vec3(index) + 0.5) * (0.5 * float(BLOCK_SIZE)) - vec3(block_lag);
        lost += (weight - light.w) * (1.0 - smoothstep(-0.25, 0.25, dot(n, its - place) / float(BLOCK_SIZE)));
        vec3 way = its + from.xyz * (reach / one_way) - place;
        float off2 = dot(way, way), nearer = (reach * reach + soft2) / (off2 + soft2);
        float directed = one_way * sqrt(off2 / (off2 + soft2));
        sum += light.xyz * mix(1.0, nearer, one_way) * seen_of_side(dot(n, way) * inversesqrt(max(off2, 1e-6)), directed);
    }
    return sum / max(1.0 - lost, 0.02);
}
