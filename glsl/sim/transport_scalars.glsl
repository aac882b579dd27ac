// Density, temperature and fuel carried along one axis for `dt` seconds, in finite volumes: what crosses a face is what
// lies before it, and all that leaves a cell comes into the next one. Within a cell each of them is a parabola (Colella &
// Woodward 1984) between its values on the two faces. These come from the four cells round each, held between the two
// beside it: so no new extremum appears.
// Along one axis more comes into a cell than leaves it, and along the next less. Until all have had their turn the last
// channel holds how much fluid is in the cell, 1 at the start, by which what has come is divided (Easter 1993). Cells;
// solids hold 0. COVERED: cells that they have just come into hold what they push on, and their fluid is below 0.
#include "lib/box.glsl"
#include "lib/fade.glsl"
#include "lib/entering.glsl"

uniform float dt;      // s, in which nothing goes further than a cell
const int axis = AXIS;
uniform int ends;      // 1: this axis is the last
uniform vec3 amounts;  // 1 for what is then an amount in the cell, 0 for what is a value of the fluid in it

const float LEAST = 0.05;  // fluid in a cell: what is divided by less is rounding, and values take the rest from before

// The cell of a row that lies `by` steps on, however few there are.
vec4 in_row(ivec3 cell, ivec3 by) {
#if ANY_PERIODIC
    return fetch_scalars(neighbour(wrapped(cell + by)));
#else
    return fetch_scalars(in_box(cell + by));
#endif
}

// Of a row the flow through the low face of the cell that lies `by` steps on, in cells.
float through(ivec3 cell, ivec3 by, ivec3 along) {
    ivec3 face = cell + by;
#if ANY_PERIODIC
    if (any(bvec3(along * ivec3(periodic)))) face = wrapped(face);
#endif
    return dot(fetch_velocity(clamp(face, ivec3(0), cells - 1 + along)).xyz, vec3(along)) * dt / cell_size;
}

// The share that a cell can give of what would leave it through its two faces: it has no more than `fluid`.
float given(float fluid, float low, float high) {
    float leaves = max(high, 0.0) + max(-low, 0.0);
    return fluid > 0.0 && leaves > fluid ? fluid / leaves : 1.0;
}

// The values on the face between the middle two of four cells in a row.
vec3 on_face(vec4 a, vec4 b, vec4 c, vec4 d) {
    return clamp((7.0 * (b + c) - (a + d)).xyz / 12.0, min(b, c).xyz, max(b, c).xyz);
}

// What crosses a face, for `flow` cells of fluid: the mean of the part of a cell that lies before it. ahead: the values on
// that face. behind: those on the opposite one of the cell.
vec3 crossing(float flow, vec4 cell, vec3 ahead, vec3 behind) {
    vec3 rise = ahead - cell.xyz, fall = cell.xyz - behind;
    // monotone within the cell: of the two none is more than twice the other, nor of the other sign
    vec3 most = 2.0 * min(abs(rise), abs(fall)) * vec3(greaterThan(rise * fall, vec3(0.0)));
    rise = clamp(rise, -most, most);
    fall = clamp(fall, -most, most);
    float share = min(abs(flow) / cell.w, 1.0);
    return flow * (cell.xyz + rise - 0.5 * share * (rise + fall + (3.0 - 2.0 * share) * (rise - fall)));
}

void kernel(ivec3 cell) {
    ivec3 along = step_along(axis);
    vec4 row[7];
    float flow[4];  // through the faces of the cells beside this one, and of this
    for (int n = 0; n < 7; ++n) row[n] = in_row(cell, (n - 3) * along);
    for (int n = 0; n < 4; ++n) flow[n] = through(cell, (n - 1) * along, along);
    if (!periodic[axis]) {  // beyond a side is what it brings, or nothing
        int before = cell[axis], after = cells[axis] - 1 - before;
        vec4 low = brought(2 * axis), high = brought(2 * axis + 1);
        for (int n = 0; n < 3; ++n) {
            if (before < n + 1) row[2 - n] = low;
            if (after < n + 1) row[4 + n] = high;
        }
        for (int n = 0; n < 2; ++n) {  // and none goes through a wall, whatever flow was written there
            if (before < n || before == n && low.w == 0.0) flow[1 - n] = 0.0;
            if (after < n || after == n && high.w == 0.0) flow[2 + n] = 0.0;
        }
    }
#if COVERED
    bool solid = row[3].w < 0.0;  // takes nothing from the fluid on its other side
    for (int n = 0; n < 7; ++n) row[n].w = solid ? max(-row[n].w, 0.0) : abs(row[n].w);
#endif
    bvec2 up = bvec2(flow[1] > 0.0, flow[2] > 0.0);
    float before = given(row[2].w, flow[0], flow[1]), here = given(row[3].w, flow[1], flow[2]);
    float after = given(row[4].w, flow[2], flow[3]);
    float comes = flow[1] * (up.x ? before : here), goes = flow[2] * (up.y ? here : after);
    // next to what holds nothing a parabola ends; from a solid that moves comes what is beside it
    for (int n = 1; n < 4; ++n) {
        if (row[3 - n].w == 0.0) row[3 - n] = row[4 - n];
        if (row[3 + n].w == 0.0) row[3 + n] = row[2 + n];
    }
    // from here on less what is in the cell: so what is even stays even to the last digit
    vec3 own = row[3].xyz;
    for (int n = 0; n < 7; ++n) row[n].xyz -= own;
    vec3 low = on_face(row[1], row[2], row[3], row[4]), high = on_face(row[2], row[3], row[4], row[5]);
    vec3 lower = on_face(row[0], row[1], row[2], row[3]), higher = on_face(row[3], row[4], row[5], row[6]);
    vec3 change = crossing(comes, up.x ? row[2] : row[3], low, up.x ? lower : high);
    change -= crossing(goes, up.y ? row[3] : row[4], high, up.y ? low : higher);
    float left = row[3].w + comes - goes, fluid = max(left, LEAST);
    vec3 held = left * own + change, values = mix(own + change / fluid, held / fluid, amounts);
    carried_out = ends == 1 ? vec4(faded(mix(values, held, amounts)), 1.0) : vec4(values, fluid);
    if (row[3].w == 0.0) carried_out = vec4(0.0);
#if COVERED
    if (solid) carried_out.w = -carried_out.w;
#endif
}
