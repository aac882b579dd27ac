// Density, temperature and fuel carried along one axis for `dt` seconds, in finite volumes: what crosses a face is what
// lies before it, and all that leaves a cell comes into the next one. A flow of several cells takes those before the face
// whole, and a part of the last (Lin & Rood 1996): it may be as long as no two faces pass each other. Within a cell each
// value is a parabola (Colella & Woodward 1984) between its values on the two faces. These come from the four cells round
// each, held between the two beside it: so no new extremum appears.
// Along one axis more comes into a cell than leaves it, and along the next less. Until all have had their turn the last
// channel holds how much fluid is in the cell, 1 at the start, by which what has come is divided (Easter 1993). Cells;
// solids hold 0. SEVERAL: flows may take several cells. COVERED: cells that solids have just come into hold what they push
// on, and their fluid is below 0.
#include "lib/passing.glsl"
#include "lib/fade.glsl"
#include "lib/entering.glsl"

uniform float dt;      // s, after which some fluid is left in each cell
uniform int reach;     // cells that a flow takes whole at most
const int axis = AXIS;
uniform int ends;      // 1: this axis is the last
uniform vec3 amounts;  // 1 for what is then an amount in the cell, 0 for what is a value of the fluid in it

const float LEAST = 0.05;  // fluid in a cell: what is divided by less is rounding, and values take the rest from before

vec4 own = vec4(0.0);  // what is in the cell; values are counted from it, so what is even stays even to the last digit
bool solid = false;    // whether only cells count that solids have come into, not the fluid on their other side

// The cell of the row that lies `by` steps on: beyond a side is what it brings, or nothing.
vec4 in_row(ivec3 cell, int by) {
    int place = cell[axis] + by, count = cells[axis];
#if ANY_PERIODIC
    if (periodic[axis]) place -= count * int(floor((float(place) + 0.5) / float(count)));
#endif
    cell[axis] = clamp(place, 0, count - 1);
    vec4 found = fetch_scalars(cell);
    if (place < 0) found = brought(2 * axis);
    if (place >= count) found = brought(2 * axis + 1);
    return vec4(found.xyz - own.xyz, found.w);
}

// How much fluid is there.
float fluid(vec4 cell) {
#if COVERED
    return solid ? max(-cell.w, 0.0) : abs(cell.w);
#else
    return cell.w;
#endif
}

// The values on the face between the middle two of four cells in a row.
vec3 on_face(vec4 a, vec4 b, vec4 c, vec4 d) {
    return clamp((7.0 * (b + c) - (a + d)).xyz / 12.0, min(b, c).xyz, max(b, c).xyz);
}

// What crosses the low (0) or the high face (1) of a cell in the middle of a row.
vec3 crossing(ivec3 cell, float flow, int face, vec4 row[7]) {
    // a face lies between b and c, which it takes first; then come d and e
    bool up = flow > 0.0;
    vec4 a = up ? row[4 + face] : row[1 + face], b = up ? row[3 + face] : row[2 + face];
    vec4 c = up ? row[2 + face] : row[3 + face], d = up ? row[1 + face] : row[4 + face];
    vec4 e = up ? row[face] : row[5 + face];
    int on = up ? -1 : 1, last = up ? face - 3 : face + 2;
    vec3 whole = vec3(0.0);
    float left = abs(flow);
#if COVERED
    bool was_solid = solid;
    solid = solid || c.w < 0.0;
#endif
#if SEVERAL
    for (int n = 0; n < reach && left > fluid(c) && fluid(c) > 0.0; ++n) {
        whole += fluid(c) * c.xyz;
        left -= fluid(c);
        a = b;
        b = c;
        c = d;
        d = e;
        last += on;
        e = in_row(cell, last);
#if COVERED
        solid = solid || c.w < 0.0;
#endif
    }
#endif
    // from a solid that moves comes what is beside it, and next to what holds nothing a parabola ends
    if (fluid(c) == 0.0) c = b;
    if (fluid(b) == 0.0) b = c;
    if (fluid(a) == 0.0) a = b;
    if (fluid(d) == 0.0) d = c;
    if (fluid(e) == 0.0) e = d;
    vec3 rise = on_face(a, b, c, d) - c.xyz, fall = c.xyz - on_face(b, c, d, e);
    // monotone within the cell: of the two none is more than twice the other, nor of the other sign
    vec3 most = 2.0 * min(abs(rise), abs(fall)) * vec3(greaterThan(rise * fall, vec3(0.0)));
    rise = clamp(rise, -most, most);
    fall = clamp(fall, -most, most);
    float share = min(left / fluid(c), 1.0);
    whole += left * (c.xyz + rise - 0.5 * share * (rise + fall + (3.0 - 2.0 * share) * (rise - fall)));
#if COVERED
    solid = was_solid;
#endif
    return up ? whole : -whole;
}

void kernel(ivec3 cell) {
    own = fetch_scalars(cell);
#if COVERED
    solid = own.w < 0.0;
#endif
    vec4 row[7];
    for (int n = 0; n < 7; ++n) row[n] = n == 3 ? vec4(0.0, 0.0, 0.0, own.w) : in_row(cell, n - 3);
    float crossed = dt / cell_size, comes = passing(cell, axis) * crossed, goes = passing(cell + step_along(axis), axis) * crossed;
    vec3 change = crossing(cell, comes, 0, row) - crossing(cell, goes, 1, row);
    float left = fluid(own) + comes - goes, least = max(left, LEAST);
    vec3 held = left * own.xyz + change, values = mix(own.xyz + change / least, held / least, amounts);
    carried_out = ends == 1 ? vec4(faded(mix(values, held, amounts)), 1.0) : vec4(values, least);
    if (own.w == 0.0) carried_out = vec4(0.0);
#if COVERED
    if (solid) carried_out.w = -carried_out.w;
#endif
}
