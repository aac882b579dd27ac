// A box that has been moved on over what is in it.
#include "lib/box.glsl"

uniform ivec3 shift;  // cells that the box has gone on; along a periodic axis 0 .. cells - 1

// Where what is now at `index` was before.
ivec3 came_from(ivec3 index) { return wrapped(index + shift); }
