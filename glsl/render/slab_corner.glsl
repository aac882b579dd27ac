// What every corner of a rectangle of slabs hands to its pixels, an instance a rectangle, farthest first.

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec4 cuts;          // as for the fragments, see cut.glsl

in vec4 bounds;             // left, bottom, right, top of the slabs in the picture, -1 .. 1
in vec2 interval;           // where they begin and end, m in front of the eye; or cells along their axis
noperspective out vec3 origin, direction;
noperspective out vec2 picture;        // 0 .. 1
flat out vec2 slab;
flat out int number;        // of the first of the slabs, counted from `cuts`; the first and the last of all may be thinner

// Which rectangle this is, counted from `cuts`.
int stack_number() { return int(floor((0.5 * (interval.x + interval.y) - cuts.x) / (cuts.y * cuts.z))); }

// p: where the corner is in the picture, -1 .. 1.
void hand_on(vec2 p) {
    origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    picture = 0.5 * p + 0.5;
    slab = interval;
    number = stack_number() * int(cuts.z);
}
