// The blocks of BLOCK_SIZE cells in which fire is gathered. They stay in the world when the box moves on over them.
#include "lib/box.glsl"

uniform ivec3 block_lag;     // cells of the first block that lie before the box, 0 .. BLOCK_SIZE - 1

// What shines in a block counts as a ball of its size: at its middle a ball of radius R that sends out e per metre has
// mean radiance e R, which is that of a light of the same power in one place, P / (4 pi (r^2 + R^2 / 3)).
const float SOFT = 0.128;    // R^2 / 3 of a ball as large as a cube of 1, blocks^2
const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);

// How many blocks along each axis hold cells of the box.
ivec3 block_count() { return (cells - 1 + block_lag) / BLOCK_SIZE + 1; }
