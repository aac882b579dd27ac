// The share of a thing's light that the smoke between it and the viewer lets through; a texel a thing.
// Sampled in pieces of one length from the thing on, so that nothing flickers as it moves. FADES: things of this box,
// which thin out towards its open sides as its smoke does, where they would end at a plane.
#include "render/look_at.glsl"
#include "render/ray_overlap.glsl"
#include "render/fade.glsl"

uniform sampler2D places;
uniform vec4 place_scale;    // of a place to cells of this box: xyz w + xyz
uniform vec3 eye;            // cells; with parallel rays the way there, of length 1
uniform bool parallel_view;
uniform vec4 ahead;          // of a place in cells: how far it is in front of the eye, m
uniform float nearest;       // where the picture begins, m

out vec4 through_out;

const float PIECE = 1.5;     // cells
const int MOST = 1 << 15;    // pieces, more than there are in a box
const float DARK = 12.0;     // optical depth behind which nothing is seen

void main() {
    vec3 p = texelFetch(places, ivec2(gl_FragCoord.xy), 0).xyz * place_scale.w + place_scale.xyz;
    vec3 d = divisible(parallel_view ? eye : normalize(eye - p));
    float room = dot(ahead, vec4(p, 1.0)) - nearest;   // m, from the thing to where the picture begins
    vec2 way = overlap(p, d, vec3(0.0), vec3(cells), vec2(0.0, room / max(-dot(ahead.xyz, d), 1e-6)));
    float depth = 0.0;
    // counted: so far from the box that single floats lie more than a piece apart, what is added to one changes nothing
    for (int n = 0; n < MOST && float(n) * PIECE < way.y - way.x && depth < DARK; ++n) {
        float from = way.x + float(n) * PIECE, piece = min(PIECE, way.y - from);
        depth += smoke_at(p + d * (from + 0.5 * piece)).w * piece * cell_size;
    }
    through_out = vec4(exp(-depth) * fade(p));
}
