// The whole boxes in a way (m) along the axes of a box of edges `size`: without them it is the shortest. What lies half a
// box off lies as near on both sides; which one counts is no matter of rounding, as the box's own faces lie there.
const float HALF_BOX = 0.4999;

vec3 boxes_off(vec3 way, vec3 size) { return size * floor(way / size + HALF_BOX); }
