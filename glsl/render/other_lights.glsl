// The lights beside the sun, directional and in one place, and how much of each is left where. Up to four.
// The share left is kept in the channels of one texture of half the box's resolution, see other_layer.glsl.

uniform ivec3 others_lag;            // 1 where the first cell of twice the size lies half before the box, else 0
uniform vec4 other_places[OTHERS];  // w 1: place of the light, cells; w 0: the way its light travels, unit length
uniform vec4 other_colors[OTHERS];  // radiance of a white surface that faces it (from 1 m away); w: radius^2, m^2
// Of the way its light travels, length 1: xyz times that, + w, is 0 where its cone ends and 1 where it is full.
uniform vec4 other_cones[OTHERS];

// The last cell of twice the size along each axis that holds cells of the box.
ivec3 others_last() { return (cells - 1 + others_lag) / 2; }

// Way from a place (cells) to light `n`: to the light itself, or unit length.
vec3 towards_other(int n, vec3 place) {
    return other_places[n].w > 0.5 ? other_places[n].xyz - place : -other_places[n].xyz;
}

// Radiance of a white surface that faces light `n` from `towards`, the way to it in cells.
vec3 strength_of_other(int n, vec3 towards) {
    float far2 = dot(towards, towards), distance2 = max(far2 * cell_size * cell_size, other_colors[n].w);
    float within = clamp(other_cones[n].w - dot(other_cones[n].xyz, towards) * inversesqrt(max(far2, 1e-12)), 0.0, 1.0);
    within *= within * (3.0 - 2.0 * within);
    return other_colors[n].xyz * (other_places[n].w > 0.5 ? within / distance2 : 1.0);
}
