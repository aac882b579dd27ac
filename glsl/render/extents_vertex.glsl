// What a block of cells covers of the picture, written down by slab (x) and band of the picture (y): two triangles
// over the slabs and bands that it meets. The cells of a block are those of occupied_boxes.glsl.
#include "lib/box.glsl"
#include "lib/nowhere.glsl"
#include "lib/quad_corner.glsl"
#include "render/box_cells.glsl"
#include "lib/quotient.glsl"

uniform mat4 to_picture;     // place (cells) -> x and y of the picture, and depth; in perspective x and y times depth
uniform bool perspective;
uniform vec4 along;          // place -> what slabs are cut across: dot(along.xyz, place) + along.w
uniform vec3 cuts;           // where the first slab begins, how thick each is, how many there are
uniform vec2 bands;          // how many, and how high each is, of the picture's 2
uniform vec2 slack;          // one pixel, of the picture's 2 x 2
uniform float margin;        // cells, by which what is seen may lie off those that hold it
uniform float spread;        // share of a slab by which each may be longer
uniform float nearest;       // depth in front of which nothing has a place in the picture

flat out vec2 reach;         // the opposite of the left end, and the right end, -1 .. 1

void main() {
    int number = int(uint(gl_VertexID) / 6u), corner = quad_corner();
    ivec3 block = counted(number, boxes_extent);
    vec2 held = fetch_boxes(block).xy;
    reach = vec2(0.0);
    gl_Position = NOWHERE;
    if (held.x < 0.0) return;
    // a cell is sampled up to a cell from its middle; the very edge is one sixteenth of a cell further
    vec3 low, high;
    box_cells(block, held, low, high);
    low = clamp(low - margin - 0.5625, vec3(0.0), vec3(cells));
    high = clamp(high + margin + 0.5625, vec3(0.0), vec3(cells));
    vec2 least = vec2(1e9), most = vec2(-1e9), span = vec2(1e9, -1e9);
    bool behind = false;
    for (int n = 0; n < 8; ++n) {
        vec3 place = mix(low, high, bvec3(n & 1, n & 2, n & 4));
        vec3 at = (to_picture * vec4(place, 1.0)).xyz;
        behind = behind || at.z < nearest;
        vec2 xy = perspective ? at.xy / max(at.z, nearest) : at.xy;
        least = min(least, xy);
        most = max(most, xy);
        float t = dot(along.xyz, place) + along.w;
        span = vec2(min(span.x, t), max(span.y, t));
    }
    if (perspective && behind) { least = vec2(-1.0); most = vec2(1.0); }
    least -= slack;
    most += slack;
    reach = vec2(-least.x, most.x);
    vec2 columns = clamp(floor((span - cuts.x) / cuts.y + (spread + 0.01) * vec2(-1.0, 1.0)), vec2(-1.0), vec2(cuts.z));
    vec2 rows = clamp(floor((vec2(least.y, most.y) + 1.0) / bands.y), vec2(-1.0), vec2(bands.x));
    vec2 place = vec2((corner & 1) == 0 ? columns.x : columns.y + 1.0, corner < 2 ? rows.x : rows.y + 1.0);
    place = clamp(place, vec2(0.0), vec2(cuts.z, bands.x));
    gl_Position = vec4(2.0 * place / vec2(cuts.z, bands.x) - 1.0, 0.0, 1.0);
}
