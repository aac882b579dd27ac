// Which of the four corners of two triangles vertex gl_VertexID is: right where odd, high from 2 on.

int quad_corner() {
    int corner = gl_VertexID % 6;
    return corner < 3 ? corner : corner - 2;
}
