// A rectangle of the picture: one slab of the volume, an instance a slab, farthest first; or the whole volume.

uniform vec3 ray_origin[3], ray_direction[3];  // cells; at the centre, and per x and y of the picture
uniform vec2 reach;      // share of the target's viewport that the picture takes from its low corner; (1, 1): all

uniform int first_number;   // of the farthest slab: a slab keeps its number when the box moves on

in vec4 bounds;          // left, bottom, right, top of the slab in the picture, -1 .. 1
in vec2 interval;        // where the slab begins and ends, m in front of the eye; or cells along its axis
noperspective out vec3 origin, direction;
noperspective out vec2 picture;        // 0 .. 1
flat out vec2 slab;
flat out float shift;    // moves the noise from slab to slab, so that along a ray it evens out

void main() {
    vec2 p = mix(bounds.xy, bounds.zw, vec2(gl_VertexID & 1, gl_VertexID >> 1));
    origin = ray_origin[0] + p.x * ray_origin[1] + p.y * ray_origin[2];
    direction = ray_direction[0] + p.x * ray_direction[1] + p.y * ray_direction[2];
    picture = 0.5 * p + 0.5;
    slab = interval;
    shift = fract(0.6180339887 * float(gl_InstanceID + first_number));
    gl_Position = vec4(reach * p + (reach - 1.0), 0.0, 1.0);
}
