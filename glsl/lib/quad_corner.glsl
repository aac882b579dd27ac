// Which of the four corners of two triangles vertex gl_VertexID is: right where odd, high from 2 on.

int quad_corner() {
    int corner = int(uint(gl_VertexID) % 6u);
    return corner < 3 ? corner : corner - 2;
}
