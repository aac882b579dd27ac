// The blocks of BLOCK_SIZE cells in which fire is gathered. They stay in the world when the box moves on over them.
#include "lib/box.glsl"

uniform ivec3 block_lag;     // cells of the first block that lie before the box, 0 .. BLOCK_SIZE - 1

// How many blocks along each axis hold cells of the box.
ivec3 block_count() { return (cells - 1 + block_lag) / BLOCK_SIZE + 1; }
