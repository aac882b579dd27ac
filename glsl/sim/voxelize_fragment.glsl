// For each of eight slices +1 for a front face above a cell's centre, -1 for a back face; blending adds them.
#include "lib/octet.glsl"

uniform int columns;  // tiles in a row of the flat texture

in vec3 place;        // cells from the low corner
flat in int octet;    // the slices are this times eight and on
out vec4 count;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy) - ivec2(octet % columns, octet / columns) * cells.xy;
    bool in_tile = all(greaterThanEqual(cell, ivec2(0))) && all(lessThan(cell, cells.xy));
    vec4 centers = 8.0 * float(octet) + vec4(0.5, 2.5, 4.5, 6.5);
    vec4 above = vec4(greaterThan(vec4(place.z), centers)) + DIGIT * vec4(greaterThan(vec4(place.z), centers + 1.0));
    if (!in_tile || above.x == 0.0) discard;
    count = gl_FrontFacing ? above : -above;
}
