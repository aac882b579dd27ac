// What is known of a place on a surface of the scene where its light is asked for.

struct Spot {
    vec3 place, n;         // cells; normal, unit length
    vec3 right, up;        // how the place moves from one pixel to the next, cells
    float lift;            // how far off the surface light is looked up that knows solids by their cells, cells, which keeps
                           // one from standing in the shadow of its own; 0: it is none of a solid's
};

const float SKY_SOFT = 2.0;  // cells: how far off light from above is looked up, one of its own volume
