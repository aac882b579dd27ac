// Cells of one colour of a chess-board, four to a texel. Of colour 0 are those whose x + y + z is even, of colour 1
// the others. In a row lane i holds x = 2 i + parity; lanes past the row hold 0.
#include "lib/box.glsl"

const int row_end = (cells.x - 1) / 2;  // where the last cell of a row lies, in the texels of its colour

int parity_of(ivec3 pack, int colour) { return (pack.y + pack.z + colour) & 1; }

// Which lanes are cells of the row.
bvec4 in_row(ivec3 pack, int parity) {
    return lessThanEqual(4 * pack.x + ivec4(0, 1, 2, 3), ivec4((cells.x - 1 - parity) >> 1));
}
