// Share of a light's light that solids let by, by the depth at which it meets the first; see shadow_map.py. The sun has
// one look at them, a tile of the map, and a lamp up to six.
#include "lib/turns.glsl"
#include "render/spot.glsl"

const int TILES = 1 + 6 * OTHERS;

uniform sampler2DShadow solid_depths;
uniform vec4 to_depths[4 * TILES];  // rows of matrices: place (cells) -> place and depth in a tile, 0 .. 1, times the fourth
uniform vec4 depth_tiles[TILES];    // of the map: where each begins, and its size
uniform float depth_texels[TILES];  // cells, where the fourth is 1
uniform vec4 depth_spreads[TILES];  // half the sides of the square that is looked up for a cell, in a tile, where the fourth is 1
uniform vec4 depth_rects[TILES];    // of a tile: where what throws shadows begins and ends, and some texels more
uniform float depth_nearest[TILES]; // and how deep it lies at least

vec4 seen_in(int tile, vec4 place) {
    int row = 4 * tile;
    return vec4(dot(to_depths[row], place), dot(to_depths[row + 1], place), dot(to_depths[row + 2], place), dot(to_depths[row + 3], place));
}

// Whether a light gets to a place and depth in a tile: 1, or 0; between if texels are filtered.
float gets_to(int tile, vec3 at) {
    vec2 start = depth_tiles[tile].xy, size = depth_tiles[tile].zw, edge = 1.0 / (size * vec2(textureSize(solid_depths, 0)));
    return textureLod(solid_depths, vec3(start + size * clamp(at.xy, edge, 1.0 - edge), at.z), 0.0);
}

// How a place and its depth in a tile move where what is `seen` there moves by `way`, cells.
vec3 moved_in(int tile, vec4 seen, vec3 way) {
    int row = 4 * tile;
    vec3 moved = vec3(dot(to_depths[row].xyz, way), dot(to_depths[row + 1].xyz, way), dot(to_depths[row + 2].xyz, way));
    if (tile == 0) return moved;  // the sun's: the fourth is 1 everywhere
    return (moved - seen.xyz / seen.w * dot(to_depths[row + 3].xyz, way)) / seen.w;
}

// `way` from the midst of a pixel, made longer the nearer that is to it, and half a texel along `diagonal` where it is there.
vec3 texel_apart(vec3 way, vec2 diagonal) {
    float share = max(1.0 - sqrt(dot(way.xy, way.xy) / dot(diagonal, diagonal)), 0.0);
    return way + vec3((dot(way.xy, diagonal) < 0.0 ? -share : share) * diagonal, 0.0);
}

// On a surface: of four places of the pixel in rows and columns of their own, or of three by three texels (a quadratic
// B-spline) where those are larger. Where an edge is seen at a slant its teeth would be a pixel each otherwise. First come the
// two that lie apart the way in which the pixel is longer on the surface: most edges there are seen to run across it. Looked up
// as far off the surface as it may rise over the texels; one that throws no shadow may lie much closer. along: the fourth of
// what is seen; facing: cosine of the angle between the normal and the way the light looks.
float surface_past_solids(int tile, float along, Spot spot, float facing) {
    float rise = spot.lift > 0.0 ? 1.9 : 0.5;
    float off = depth_texels[tile] * along * (0.25 + rise * sqrt(max(1.0 - facing * facing, 0.0)));
    vec4 seen = seen_in(tile, vec4(spot.place + off * spot.n, 1.0));
    vec3 right = moved_in(tile, seen, spot.right) / 8.0, up = moved_in(tile, seen, spot.up) / 8.0;
    vec2 middle = 0.5 / (depth_tiles[tile].zw * vec2(textureSize(solid_depths, 0)));
    vec3 low = texel_apart(3.0 * right + up, middle), left = texel_apart(3.0 * up - right, vec2(-middle.x, middle.y));
    bool higher = dot(up.xy, up.xy) > dot(right.xy, right.xy);
    vec3 at = seen.xyz / seen.w;
    float sum = 0.0;
    int n = 0;
    do sum += gets_to(tile, at + ((n & 1) == 0 ? 1.0 : -1.0) * ((n < 2) == higher ? left : low));
    while (++n < turns(4) && !(n == 2 && (sum == 0.0 || sum == 2.0)));  // two that see the same: no edge is near
    return sum / float(n);
}

// In a cell: of four rows by four places in a square that lies aslant in it across the light's way, lest the edge of a beam
// shows cells: a percentage of what is closer (Reeves, Salesin & Cook 1987). Of dense smoke a ray sees a cell or two, so each
// needs them all; but where the corners see the same no straight edge runs between them, and there are no others to look up.
// The light gets to all that lies beside what throws shadows, or before it. Such cells make one look at a corner of the tile,
// all at the same: looks of their own would lie far apart in the map, and a software renderer waits for memory.
float cell_past_solids(int tile, vec4 seen) {
    vec3 at = seen.xyz / seen.w;
    vec4 sides = depth_spreads[tile] / seen.w, rect = depth_rects[tile];
    vec2 wide = abs(sides.xy) + abs(sides.zw);
    bool beside = any(lessThan(at.xy + wide, rect.xy)) || any(greaterThan(at.xy - wide, rect.zw));
    bool clear = beside || at.z < depth_nearest[tile];
    if (clear) at = vec3(0.0);
    float sum = 0.0;
    int n = 0, most = clear ? 1 : 16;
    do {
        vec2 way = mix(vec2(1.0), vec2(1.0 / 3.0), notEqual(ivec2(n & 4, n & 8), ivec2(0)));  // corners first
        way *= vec2((n & 1) == 0 ? 1.0 : -1.0, (n & 2) == 0 ? 1.0 : -1.0);
        sum += gets_to(tile, at + vec3(way.x * sides.xy + way.y * sides.zw, 0.0));
    } while (++n < turns(most) && !(n == 4 && (sum == 0.0 || sum == 4.0)));
    return sum / float(n);
}

float sun_on_surface(Spot spot, float facing) { return surface_past_solids(0, 1.0, spot, facing); }

float sun_in_cell(vec3 place) { return cell_past_solids(0, seen_in(0, vec4(place, 1.0))); }

#if OTHERS
uniform ivec2 depth_lamps[OTHERS];  // the first tile of each, and the one after its last

// The tile of lamp `k` that holds a place (cells), and what is seen there; 0: none does, so that no solid is on its side
// of the lamp.
int tile_of(int k, vec3 place, out vec4 seen) {
    for (int tile = depth_lamps[k].x; tile < depth_lamps[k].y; ++tile) {
        seen = seen_in(tile, vec4(place, 1.0));
        if (all(lessThan(abs(2.0 * seen.xy - seen.w), vec2(seen.w)))) return tile;
    }
    return 0;
}

float lamp_on_surface(int k, Spot spot) {
    vec4 seen;
    int tile = tile_of(k, spot.place, seen);
    if (tile == 0) return 1.0;
    return surface_past_solids(tile, seen.w, spot, dot(spot.n, normalize(to_depths[4 * tile + 2].xyz)));
}

float lamp_in_cell(int k, vec3 place) {
    vec4 seen;
    int tile = tile_of(k, place, seen);
    return tile > 0 ? cell_past_solids(tile, seen) : 1.0;
}
#endif
