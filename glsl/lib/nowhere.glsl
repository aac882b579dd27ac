// Where the corners of a triangle that is not to be drawn lie, all in one place. Were they outside the picture, llvmpipe
// would take all triangles of the draw through its clipper, in time that grows with the square of their number.

const vec4 NOWHERE = vec4(-1.0, -1.0, 0.0, 1.0);
