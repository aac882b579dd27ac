// Share of the light FIELD that reaches a place; included once for each light.
// Inside the box of cells this is the light volume. Outside, a place has the light of its ray: what was
// left of it where it came out of the box, or all of it where it never was inside.
#include "lib/between.glsl"
#include "lib/box.glsl"
#include "lib/turns.glsl"
#include "render/light_tiles.glsl" for FIELD
#include "render/light_way.glsl" for FIELD

uniform sampler2D FIELD_layers;
uniform mat4 FIELD_matrix;     // place (cells) -> column (xy), depth (z), light cells
uniform vec2 FIELD_slope;      // lateral place per layer, no component 0
uniform vec2 FIELD_extent;     // lateral size of the box, light cells

// Which column to read in place of `column` at the end of a layer. Where light enters through a side, columns outside
// the box tell nothing about the smoke inside it: the way behind that side counts, which grows from 0 there and is full
// after `run`. Past the last one walked, beyond where light leaves the box, that one holds.
vec2 read_FIELD(int layer, vec2 column) {
    float depth = float(layer + 1);
    vec2 forth = mix(vec2(-1.0), vec2(1.0), greaterThan(FIELD_slope, vec2(0.0)));
    vec2 run = abs(FIELD_slope) * depth, place = column + FIELD_slope * depth;
    vec2 entered = mix(FIELD_extent - place, place, greaterThan(forth, vec2(0.0)));  // from the side of entry
    vec2 shift = mix(FIELD_extent, vec2(0.0), greaterThan(forth, vec2(0.0)));
    vec2 middle = forth * (0.5 - start_FIELD());
    vec2 first = fract(shift + middle + run);                       // of the first column inside
    vec2 last = FIELD_extent - fract(FIELD_extent - shift - middle - run);  // of the last one
    last += beyond_FIELD;
    vec2 share = clamp(min(entered, run) / max(min(first, run), 1e-9), 0.0, 1.0);
    vec2 read = mix(min(entered, last), first - 1.0 + share, lessThan(entered, first));
    return column + forth * (read - entered);
}

// Light left in `column` at the end of a layer, filtered between columns.
float layer_FIELD(int layer, vec2 column) {
    vec2 texel = read_FIELD(layer, column) + start_FIELD() - vec2(base_FIELD(layer));
    texel = clamp(texel, vec2(0.5), vec2(FIELD_tiles.xy) - 0.5);
    vec4 four = between(FIELD_layers, (texel + vec2(corner_FIELD(layer))) / vec2(textureSize(FIELD_layers, 0)));
    vec2 two = (layer & 2) == 0 ? four.xy : four.zw;
    return (layer & 1) == 0 ? two.x : two.y;
}

// Light at a place inside the box (cells); between the ends of two layers it falls as in even smoke.
float light_inside_FIELD(vec3 place) {
    vec3 column = (FIELD_matrix * vec4(place, 1.0)).xyz;
    float depth = clamp(column.z, 0.0, float(FIELD_tiles.w) - 0.001) - 1.0;  // so that the next one is a layer
    int above = int(floor(depth)), n = 0;
    float light, next = 1.0;
    do {
        light = next;
        next = above + n < 0 ? 1.0 : layer_FIELD(above + n, column.xy);
    } while (++n < turns(2));
    return light * pow(max(next, 1e-30) / max(light, 1e-30), depth - float(above));
}

float light_at_FIELD(vec3 place) {
    vec3 a = place / FIELD_direction, b = (place - vec3(cells)) / FIELD_direction;
    vec3 low = min(a, b), high = max(a, b);
    float near = max(max(low.x, low.y), max(low.z, 0.0)), far = min(high.x, min(high.y, high.z));
    return near > far ? 1.0 : light_inside_FIELD(place - near * FIELD_direction);
}
