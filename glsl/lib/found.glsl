// What of a strip of cells, 64 by 4 in one slice, counts: a span of cells along x, in cells of the box, (0, 0) or
// anything that ends where it begins where there is none.

const vec2 NOTHING = vec2(1e6, -1e6);

vec2 joined(vec2 a, vec2 b) { return a.x < a.y ? b.x < b.y ? vec2(min(a.x, b.x), max(a.y, b.y)) : a : b; }
