// A ray and a box, by its slabs (Kay & Kajiya 1986).

// A way with no component 0.
vec3 divisible(vec3 way) { return mix(way, vec3(1e-6), lessThan(abs(way), vec3(1e-6))); }

// Where the ray from `origin` along `d`, which is divisible, is between two corners, from `begin` on: (from, to) in
// lengths of d; nothing where to <= from.
vec2 between_corners(vec3 origin, vec3 d, vec3 bottom, vec3 top, float begin) {
    vec3 a = (bottom - origin) / d, b = (top - origin) / d;
    vec3 low = min(a, b), high = max(a, b);
    return vec2(max(max(low.x, low.y), max(low.z, begin)), min(high.x, min(high.y, high.z)));
}
