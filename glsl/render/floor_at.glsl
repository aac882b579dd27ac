// Where the floor lies that is drawn about a box. Cells.

uniform float floor_height; // above the bottom of the box
uniform float floor_reach;  // from the middle of the box to where the floor is gone

// How far off it is along a ray from above it.
float floor_depth_on(vec3 origin, vec3 direction) { return (floor_height - origin.y) / direction.y; }

// Share of what stands behind it that is seen through it: it fades.
float beyond_floor(vec3 place) {
    vec2 aside = (place.xz - 0.5 * vec2(cells.xz)) / floor_reach;
    return smoothstep(0.05, 1.0, length(aside));
}
