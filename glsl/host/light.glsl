// What the smoke of a box does to the light on things of your own. `renderer.give(fluid, program)`, of the VolumeRenderer
// that draws the box, sets these uniforms and binds the textures, as of its last picture: before you draw.
uniform sampler2D gpufluid_sun_layers;  // the sun's light left, see render/light_at.glsl
uniform ivec4 gpufluid_sun_tiles;
uniform ivec2 gpufluid_sun_shear, gpufluid_sun_start;
uniform mat4 gpufluid_sun_matrix;
uniform vec2 gpufluid_sun_slope, gpufluid_sun_extent;
uniform vec3 gpufluid_sun_direction;
uniform sampler2D gpufluid_glow;        // the light of the fire, see render/glow_at.glsl
uniform ivec3 gpufluid_glow_extent;
uniform int gpufluid_glow_tiles;        // slices in a row of it
uniform vec4 gpufluid_fire_blocks;      // cells of the first that lie before the box; edge in cells, 0 without fire
uniform sampler2D gpufluid_lamps;       // the light left of each of `lights`, a light a channel, see render/other_left.glsl
uniform ivec3 gpufluid_lamps_extent, gpufluid_lamps_lag;
uniform ivec2 gpufluid_lamps_tiles;     // slices in a row of it; how many lights
uniform vec4 gpufluid_lamp_places[4];   // w 1: place of the light, cells; w 0: the way its light travels, unit length
uniform vec3 gpufluid_light_origin;     // low corner of the box, m
uniform vec3 gpufluid_light_cells;
uniform float gpufluid_light_cell_size; // m

vec3 gpufluid_light_place(vec3 world) { return (world - gpufluid_light_origin) / gpufluid_light_cell_size; }

// Light left in a column at the end of a layer, filtered between columns.
float gpufluid_sun_layer(int layer, vec2 column) {
    if (layer < 0) return 1.0;
    vec2 start = vec2(gpufluid_sun_start) * 1.52587890625e-5, slope = gpufluid_sun_slope, extent = gpufluid_sun_extent;
    bvec2 forth = greaterThan(slope, vec2(0.0));
    vec2 way = mix(vec2(-1.0), vec2(1.0), forth), run = abs(slope) * float(layer + 1), at = column + slope * float(layer + 1);
    vec2 entered = mix(extent - at, at, forth), shift = mix(extent, vec2(0.0), forth), middle = way * (0.5 - start);
    vec2 first = fract(shift + middle + run), last = extent - fract(extent - shift - middle - run) + 2.0;  // beyond_sun
    vec2 share = clamp(min(entered, run) / max(min(first, run), 1e-9), 0.0, 1.0);
    vec2 read = mix(min(entered, last), first - 1.0 + share, lessThan(entered, first));
    ivec2 half_way = 32768 + gpufluid_sun_start;
    ivec2 base = (min(half_way - gpufluid_sun_shear * ((layer & ~3) + 1), half_way - gpufluid_sun_shear * ((layer | 3) + 1)) >> 16) - 2;
    vec2 texel = clamp(column + way * (read - entered) + start - vec2(base), vec2(0.5), vec2(gpufluid_sun_tiles.xy) - 0.5) - 0.5;
    int tile = layer >> 2, row = tile / gpufluid_sun_tiles.z;
    ivec2 corner = ivec2(tile - row * gpufluid_sun_tiles.z, row) * gpufluid_sun_tiles.xy, low = ivec2(floor(texel));
    ivec2 high = min(low + 1, gpufluid_sun_tiles.xy - 1);
    vec2 part = texel - vec2(low);
    int channel = layer & 3;
    return mix(
        mix(texelFetch(gpufluid_sun_layers, corner + low, 0)[channel], texelFetch(gpufluid_sun_layers, corner + ivec2(high.x, low.y), 0)[channel], part.x),
        mix(texelFetch(gpufluid_sun_layers, corner + ivec2(low.x, high.y), 0)[channel], texelFetch(gpufluid_sun_layers, corner + high, 0)[channel], part.x), part.y);
}

// Share of the sun's light that smoke lets through to a place in metres, in the box or outside it. Solids let all by: for
// their shadows you have your own.
float gpufluid_sunlight_at(vec3 world) {
    if (gpufluid_sun_tiles.w == 0) return 1.0;  // nothing was drawn yet
    vec3 place = gpufluid_light_place(world), a = place / gpufluid_sun_direction;
    vec3 b = (place - gpufluid_light_cells) / gpufluid_sun_direction, low = min(a, b), high = max(a, b);
    float near = max(max(low.x, low.y), max(low.z, 0.0)), far = min(high.x, min(high.y, high.z));
    if (near > far) return 1.0;
    vec3 column = (gpufluid_sun_matrix * vec4(place - near * gpufluid_sun_direction, 1.0)).xyz;
    float depth = clamp(column.z, 0.0, float(gpufluid_sun_tiles.w) - 0.001) - 1.0;
    int above = int(floor(depth));
    float light = gpufluid_sun_layer(above, column.xy), next = gpufluid_sun_layer(above + 1, column.xy);
    return light * pow(max(next, 1e-30) / max(light, 1e-30), depth - float(above));
}

// The light left in the box, trilinear between cells of twice the size.
vec4 gpufluid_lamps_left(vec3 place) {
    ivec3 last = (ivec3(gpufluid_light_cells) - 1 + gpufluid_lamps_lag) / 2;
    vec3 q = clamp(0.5 * (place + vec3(gpufluid_lamps_lag)) - 0.5, vec3(0.0), vec3(last)), share = fract(q);
    vec4 sum = vec4(0.0);
    for (int corner = 0; corner < 8; ++corner) {
        ivec3 side = ivec3(corner, corner >> 1, corner >> 2) & 1, at = min(ivec3(q) + side, last);
        vec3 near = mix(1.0 - share, share, vec3(side));
        ivec2 tile = ivec2(at.z % gpufluid_lamps_tiles.x, at.z / gpufluid_lamps_tiles.x);
        sum += near.x * near.y * near.z * texelFetch(gpufluid_lamps, tile * gpufluid_lamps_extent.xy + at.xy, 0);
    }
    return sum;
}

// Share of the light of each of `lights`, in their order, that smoke lets through to a place in metres, in the box or outside
// it: there, what is left where the way to the light enters it. Solids let all by. 1 for lights there are not.
vec4 gpufluid_lamplight_at(vec3 world) {
    vec3 place = gpufluid_light_place(world);
    vec4 left = vec4(1.0);
    for (int n = 0; n < gpufluid_lamps_tiles.y; ++n) {
        vec4 lamp = gpufluid_lamp_places[n];
        vec3 way = lamp.w > 0.5 ? lamp.xyz - place : -lamp.xyz, d = mix(way, vec3(1e-6), lessThan(abs(way), vec3(1e-6)));
        vec3 a = -place / d, b = (gpufluid_light_cells - place) / d, low = min(a, b), high = max(a, b);
        float near = max(max(low.x, low.y), max(low.z, 0.0)), far = min(high.x, min(high.y, high.z));
        if (near <= far && (near < 1.0 || lamp.w < 0.5)) left[n] = gpufluid_lamps_left(place + near * way)[n];
    }
    return left;
}

vec4 gpufluid_glow_texel(ivec3 index) {
    return texelFetch(gpufluid_glow, ivec2(index.z % gpufluid_glow_tiles, index.z / gpufluid_glow_tiles) * gpufluid_glow_extent.xy + index.xy, 0);
}

// Radiance that the fire gives a white matt surface at a place in metres, of that normal; 0 without `fire`.
vec3 gpufluid_firelight_at(vec3 world, vec3 normal) {
    float edge = gpufluid_fire_blocks.w;  // cells
    if (!(edge > 0.0)) return vec3(0.0);
    vec3 place = gpufluid_light_place(world), lag = gpufluid_fire_blocks.xyz, sum = vec3(0.0);
    float lost = 0.0;  // of the weights: behind the surface, and hidden from the fire by a solid
    ivec3 count = (ivec3(gpufluid_light_cells) - 1 + ivec3(lag)) / int(edge) + 1;
    int deep = gpufluid_glow_extent.z / 2;
    ivec3 last = min(2 * count, ivec3(gpufluid_glow_extent.xy, deep)) - 1;
    vec3 q = clamp((place + lag) * (2.0 / edge) - 0.5, vec3(0.0), vec3(last));
    ivec3 low = ivec3(q);
    vec3 share = q - vec3(low);
    float soft2 = 0.128 * edge * edge;  // cells^2
    for (int corner = 0; corner < 8; ++corner) {
        ivec3 side = ivec3(corner, corner >> 1, corner >> 2) & 1, index = min(low + side, last);
        vec3 near = mix(1.0 - share, share, vec3(side));
        vec4 light = near.x * near.y * near.z * gpufluid_glow_texel(index), from = gpufluid_glow_texel(ivec3(index.xy, index.z + deep));
        float one_way = length(from.xyz), reach = from.w / gpufluid_light_cell_size;
        if (!(one_way > 0.0)) continue;
        vec3 its = (vec3(index) + 0.5) * (0.5 * edge) - lag, way = its + from.xyz * (reach / one_way) - place;
        lost += (near.x * near.y * near.z - light.w) * (1.0 - smoothstep(-0.25, 0.25, dot(normal, its - place) / edge));
        float off2 = dot(way, way), nearer = (reach * reach + soft2) / (off2 + soft2);
        float directed = one_way * sqrt(off2 / (off2 + soft2)), across = dot(normal, way) * inversesqrt(max(off2, 1e-6));
        float wide2 = 4.0 * directed * (1.0 - directed), wide = sqrt(max(wide2, 1e-6)), above = clamp(across + wide, 0.0, 2.0 * wide);
        float facing = 4.0 * directed * (across > wide ? across : 0.25 * above * above / wide);
        facing += max(1.0 - directed * (1.0 + wide2 / 3.0), 0.0);
        sum += light.xyz * mix(1.0, nearer, one_way) * facing;
    }
    return sum / max(1.0 - lost, 0.02);
}
