// The floor's plane, further than the floor reaches, so that its end crosses no pixel's samples.

uniform mat4 to_clip;   // cells -> clip space
uniform vec3 middle;    // cells
uniform float reach;    // cells

const float FURTHER = 4.0;

out vec2 aside;         // of the middle, in reaches

void main() {
    aside = FURTHER * (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0);
    gl_Position = to_clip * vec4(middle + reach * vec3(aside.x, 0.0, aside.y), 1.0);
}
