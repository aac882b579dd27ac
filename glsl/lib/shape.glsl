// Sphere, box, capsule, cylinder and half space in one formula, each in its own space, axis along y.

// How far `q` (m) lies beyond the core `core` (m) along each axis of its profile.
// kind 0: a box, of which a point, rounded, is a ball and a line, rounded, a capsule; 1: a cylinder of radius
// core.x and half height core.y; 2: the half space below y = 0; 3: a mesh's bounding box, as 0.
vec3 beyond(int kind, vec3 q, vec3 core) {
    vec3 profile = kind == 1 ? vec3(length(q.xz), abs(q.y), 0.0) : kind == 2 ? vec3(0.0, q.y, 0.0) : abs(q);
    return max(profile - core, 0.0);
}

// Share of a cell `wide` > 0 (m) across that lies within `reach` of 0, along one axis, its middle `off` >= 0 from there.
float cover(float off, float reach, float wide) { return clamp(min(0.5 + (reach - off) / wide, 2.0 * reach / wide), 0.0, 1.0); }
