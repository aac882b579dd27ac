// The velocity over that of a grid with half as many cells along each axis, m/s. Faces.
// On a coarse face it is linear, with that face's own mean; in a coarse cell halfway between opposite faces, and
// pushed by as much as leaves each of the finer cells the divergence of the coarse one (Toth & Roe 2002).
#include "lib/solids.glsl"
#include "lib/beyond.glsl"

ivec3 coarse_cells() { return (cells + 1) / 2; }

vec3 coarse_at(ivec3 face) { return fetch_coarse_velocity(clamp(face, ivec3(0), coarse_face_extent - 1)).xyz; }

// How much a component changes along another axis over a quarter of a coarse cell; not where a side gives it.
float slope(ivec3 face, int component, int along) {
    if (!periodic[component] && ((face[component] == 0 && !open_low[component])
                                 || (face[component] == coarse_cells()[component] && !open_high[component])))
        return 0.0;
    ivec3 last = coarse_cells() - 1, low = face - step_along(along), high = face + step_along(along);
    vec3 own = coarse_at(face), below, above;
    if (periodic[along]) {
        low[along] += low[along] < 0 ? last[along] + 1 : 0;
        high[along] -= high[along] > last[along] ? last[along] + 1 : 0;
    }
    below = low[along] < 0 ? velocity_beyond(2 * along, own) : coarse_at(low);
    above = high[along] > last[along] ? velocity_beyond(2 * along + 1, own) : coarse_at(high);
    return 0.125 * (above[component] - below[component]);
}

// A component on the part of a coarse face that lies at `odd` of it along the other axes.
float on_face(ivec3 face, int component, ivec3 odd) {
    float value = coarse_at(face)[component];
    for (int along = 0; along < DIMENSIONS; ++along)
        if (along != component) value += float(2 * odd[along] - 1) * slope(face, component, along);
    return value;
}

void kernel(ivec3 face) {
    ivec3 here = home(face), low = here / 2, odd = here - 2 * low;
    vec3 u = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        u[axis] = on_face(low, axis, odd);
        if (odd[axis] == 0) continue;
        ivec3 high = low + step_along(axis);
        if (periodic[axis] && high[axis] == coarse_cells()[axis]) high[axis] = 0;
        float push = 0.0;
        for (int across = 0; across < DIMENSIONS; ++across)
            if (across != axis) push += slope(low + step_along(across), across, axis) - slope(low, across, axis);
        u[axis] = 0.5 * (u[axis] + on_face(high, axis, odd) + push);
    }
    velocity_out = vec4(constrained(face, u), 0.0);
}
