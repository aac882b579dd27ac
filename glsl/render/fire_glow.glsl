// Light of the fire that arrives in a place, as the mean radiance over all directions: the blocks of fire as
// lights in the middle of what shines in each, weakened by the smoke on the way; of what a block sends out its own smoke lets
// (1 - exp(-depth)) / depth escape, as from an even slab of that optical depth. Cells of half a block; the slices behind them hold
// where it comes from: the mean of the unit vectors there, weighted by luminance, and the mean distance (m). With the light
// goes the share of it that solids let by.
#include "render/fire_box.glsl"
#include "lib/quotient.glsl"
#if SOLIDS
#include "render/fire_past_solids.glsl"
#endif

const int STOPS = 4;  // on the way, where the smoke is looked up

uniform float glow_strength;
uniform sampler2D fire_list;  // numbers of the blocks that hold fire, see fire_list.glsl

out vec4 glow_out;

float extinction_at(vec3 place) {  // blocks
    ivec3 last = block_count() - 1;
    vec3 q = clamp(place - 0.5, vec3(0.0), vec3(last));
    int low = int(q.z), high = min(low + 1, last.z);
    return mix(filtered_blocks(q.xy, low).w, filtered_blocks(q.xy, high).w, q.z - float(low));
}

void main() {
    ivec3 index = glow_index(ivec2(gl_FragCoord.xy));
    glow_out = vec4(0.0);
    if (index.z >= glow_extent.z) return;
    const int deep = glow_extent.z / 2;
    bool ways = index.z >= deep;
    if (ways) index.z -= deep;
    ivec3 count = block_count();
    if (any(greaterThanEqual(index, 2 * count))) return;
    const float size = float(BLOCK_SIZE) * cell_size;  // m
    vec3 place = (vec3(index) + 0.5) * 0.5;  // blocks
    float sum = 0.0;
    vec4 ways_sum = vec4(0.0);
    for (int at = 0; at < blocks_extent.x * blocks_extent.y * blocks_extent.z; ++at) {
        int number = int(floor(texelFetch(fire_list, ivec2(at, 0), 0).x));
        if (number < 0) break;
        ivec3 its = counted(number, blocks_extent);
        vec4 block = fetch_blocks(its);
        vec3 way = fetch_middles(its).xyz - place;
        float distance2 = max(dot(way, way), 1e-6) * size * size;
        float outside = max(1.0 - 0.5 * size / sqrt(distance2), 0.0);  // share of the way that is not its own
        float mean = 0.0;
        for (int n = 0; n < STOPS; ++n)
            mean += extinction_at(place + way * (outside * (float(n) + 0.5) / float(STOPS)));
        float left = exp(-mean / float(STOPS) * outside * sqrt(distance2)) / (12.566371 * (distance2 + SOFT * size * size));
        float depth = block.w * size;
        left *= depth > 1e-3 ? (1.0 - exp(-depth)) / depth : 1.0;
        float weight = left * dot(block.xyz, LUMINANCE);
        ways_sum += weight * vec4(way * (size / sqrt(distance2)), sqrt(distance2));
        glow_out.xyz += glow_strength * left * block.xyz;
        sum += weight;
    }
    ways_sum /= max(sum, 1e-30);
    if (ways) {
        glow_out = ways_sum;
        return;
    }
    glow_out.w = 1.0;
#if SOLIDS
    if (sum > 0.0) glow_out *= fire_past_solids(place * float(BLOCK_SIZE) - vec3(block_lag), ways_sum.xyz, ways_sum.w / cell_size);
#endif
}
