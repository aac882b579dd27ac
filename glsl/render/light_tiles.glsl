// Where the light volume FIELD keeps its columns; included once for each light.
// A column is a ray of light: it keeps its number in every layer, while its lateral place moves with the
// shear. Four layers lie in the channels of a tile: layer m holds the share of light left at depth m + 1.
// Lengths are light cells: layers along the walk axis, columns across it.
#include "lib/quotient.glsl"

uniform ivec4 FIELD_tiles;     // tile width and height (texels), tiles in a row of the texture, layers
uniform ivec2 FIELD_shear;     // lateral place per layer, in 1/65536: whole numbers, so every pass agrees
uniform ivec2 FIELD_start;     // how far columns lie before whole places, in 1/65536: those of a box that has moved

// How far columns are walked on beyond a side where light leaves, light cells. The outermost cell holds on there, so that
// light between the last column inside and the side runs as evenly as elsewhere; all columns that are read beside it.
const float beyond_FIELD = 2.0;

// Column of the first texel of the tile that holds a layer. The tiles travel with the box: at the end of each of its
// layers a tile covers the box and all columns with their middle up to two beyond it, whatever the shear.
ivec2 base_FIELD(int layer) {
    ivec2 half_way = 32768 + FIELD_start;
    return (min(half_way - FIELD_shear * ((layer & ~3) + 1), half_way - FIELD_shear * ((layer | 3) + 1)) >> 16) - 2;
}

// The same as a place. A product, as a GPU may round a quotient: of columns next to a side that would count a thousandfold.
vec2 start_FIELD() { return vec2(FIELD_start) * 1.52587890625e-5; }

// First texel of the tile that holds a layer.
ivec2 corner_FIELD(int layer) {
    int tile = layer >> 2, row = quotient(tile, FIELD_tiles.z);
    return ivec2(tile - row * FIELD_tiles.z, row) * FIELD_tiles.xy;
}
