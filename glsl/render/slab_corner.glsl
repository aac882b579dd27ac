// What every corner of a slab's rectangle hands to its pixels, an instance a slab, farthest first.

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec2 cuts;          // where the first slab begins, how thick each is
uniform vec2 shifts;        // of the first slab, and from one to the next: a slab keeps its shift when the box moves on

in vec4 bounds;             // left, bottom, right, top of the slab in the picture, -1 .. 1
in vec2 interval;           // where the slab begins and ends, m in front of the eye; or cells along its axis
noperspective out vec3 origin, direction;
noperspective out vec2 picture;        // 0 .. 1
flat out vec2 slab;
flat out float shift;       // moves the noise from slab to slab, so that along a ray it evens out

// Which slab this is, counted from `cuts`; the first and the last may be thinner.
int slab_number() { return int(floor((0.5 * (interval.x + interval.y) - cuts.x) / cuts.y)); }

// p: where the corner is in the picture, -1 .. 1.
void hand_on(vec2 p) {
    origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    picture = 0.5 * p + 0.5;
    slab = interval;
    shift = fract(shifts.x + shifts.y * float(slab_number()));
}
