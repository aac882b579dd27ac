// One slab of the volume, an instance a slab, farthest first: in each band of the picture the rectangle that holds
// all that is to be seen of it there, or one rectangle for all bands.
#include "lib/quad_corner.glsl"

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform sampler2D extents;  // by slab and band: the opposite of the left end, and the right end, -1 .. 1
uniform sampler2D wholes;   // by slab: the same of all bands, and the first and last of them; see extents_whole.glsl
uniform vec2 cuts;          // where the first slab begins, how thick each is
uniform float band;         // height of a band, of the picture's 2
uniform int first_number;   // of the farthest slab: a slab keeps its number when the box moves on

in vec4 bounds;             // left, bottom, right, top of the slab in the picture, -1 .. 1
in vec2 interval;           // where the slab begins and ends, m in front of the eye; or cells along its axis
noperspective out vec3 origin, direction;
noperspective out vec2 picture;        // 0 .. 1
flat out vec2 slab;
flat out float shift;       // moves the noise from slab to slab, so that along a ray it evens out

void main() {
    int row = gl_VertexID / 6, corner = quad_corner();
    int column = int(floor((0.5 * (interval.x + interval.y) - cuts.x) / cuts.y));  // the first and last may be thinner
    vec4 whole = texelFetch(wholes, ivec2(column, 0), 0);
    vec2 ends = texelFetch(extents, ivec2(column, row), 0).xy;
    bool one = whole.z <= whole.w;
    if (one) ends = row == 0 ? whole.xy : vec2(-2.0);
    vec2 rows = one ? vec2(whole.z, whole.w + 1.0) : vec2(row, row + 1);
    vec2 low = max(bounds.xy, vec2(-ends.x, rows.x * band - 1.0));
    vec2 high = min(bounds.zw, vec2(ends.y, rows.y * band - 1.0));
    bool some = all(lessThan(low, high));
    vec2 p = mix(low, high, vec2(corner & 1, corner >> 1));
    origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    picture = 0.5 * p + 0.5;
    slab = interval;
    shift = fract(0.6180339887 * float(gl_InstanceID + first_number));
    gl_Position = vec4(some ? p : vec2(2.0), 0.0, 1.0);
}
