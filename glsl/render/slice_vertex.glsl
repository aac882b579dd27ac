// A square of a plane, large enough for the whole box.

uniform mat4 to_clip;                   // cells -> clip space
uniform vec3 middle, across, upward;    // cells
out vec3 place;                         // cells

void main() {
    vec2 corner = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0;
    place = middle + corner.x * across + corner.y * upward;
    gl_Position = to_clip * vec4(place, 1.0);
}
