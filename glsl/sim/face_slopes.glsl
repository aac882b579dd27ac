// What a grid of twice as many cells along each axis makes its velocity of, see prolong_velocity.glsl. Faces; for each
// component x: its value, m/s, y and z: how much it changes over a quarter of a cell along the two other axes, in their
// order, w: what it has halfway to the next face beyond the mean of both.
#include "lib/box.glsl"
#include "lib/beyond.glsl"

vec3 stored(ivec3 face) { return fetch_velocity(clamp(face, ivec3(0), face_extent - 1)).xyz; }

// Of a component along another axis; 0 where a side or a solid gives it: what the fluid does beside it does not count.
float slope(ivec3 face, int component, int along) {
#if SOLIDS
    if ((int(fetch_solid_faces(face).w) >> component & 1) != 0) return 0.0;  // sides close these as well
#else
    if (!periodic[component] && ((face[component] == 0 && !open_low[component])
                                 || (face[component] == cells[component] && !open_high[component])))
        return 0.0;
#endif
    vec3 own = stored(face);
    ivec3 low = face - step_along(along), high = face + step_along(along);
    if (periodic[along]) {
        low[along] += low[along] < 0 ? cells[along] : 0;
        high[along] -= high[along] >= cells[along] ? cells[along] : 0;
    }
    vec3 below = low[along] < 0 ? velocity_beyond(2 * along, own) : stored(low);
    vec3 above = high[along] >= cells[along] ? velocity_beyond(2 * along + 1, own) : stored(high);
    return 0.125 * (above[component] - below[component]);
}

// How much more a component along another axis changes along `axis` on a cell's high face than on its low one.
float more(ivec3 face, int component, int axis) {
    return slope(face + step_along(component), component, axis) - slope(face, component, axis);
}

// What is told of a component, whose slopes are along the axes `first` and `second`.
vec4 told(ivec3 face, int component, int first, int second) {
    ivec3 within = face * (1 - step_along(component));
    if (any(greaterThanEqual(within, cells))) return vec4(0.0);  // no face is there
    vec4 values = vec4(stored(face)[component], slope(face, component, first), 0.0, 0.0);
    if (face[component] < cells[component]) values.w = more(face, first, component);
#if DIMENSIONS == 3
    values.z = slope(face, component, second);
    if (face[component] < cells[component]) values.w += more(face, second, component);
#endif
    values.w *= 0.5;
    return values;
}

void kernel(ivec3 face) {
    slopes_out[0] = told(face, 0, 1, 2);
    slopes_out[1] = told(face, 1, 0, 2);
#if DIMENSIONS == 3
    slopes_out[2] = told(face, 2, 0, 1);
#else
    slopes_out[2] = vec4(0.0);
#endif
}
