// A corner of a solid that moves: where the picture has it, and what it tells of its way.

in vec4 seen;    // clip space
in vec4 travel;  // m until the next frame, along x, y, z; how deep it lies in the picture, m
out vec4 way;

void main() {
    way = travel;
    gl_Position = seen;
}
