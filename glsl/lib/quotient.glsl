// Whole numbers divided as floats: a software renderer takes far longer to divide them as they are, and to compile that.

// Whole part of a / b, for a >= 0 and below 2^20: OpenGL lets a quotient be off by 2.5 of its last digits.
int quotient(int a, int b) { return int((float(a) + 0.5) / float(b)); }

// Where value `number` of a volume of `extent` lies, counted along x first, then along y. number: below 2^30, with less
// than 2^20 rows: there are millions of pieces in a large box.
ivec3 counted(int number, ivec3 extent) {
    int row = quotient(number, extent.x), off = number - row * extent.x;
    row += int(off >= extent.x) - int(off < 0);
    int slice = quotient(row, extent.y);
    return ivec3(number - row * extent.x, row - slice * extent.y, slice);
}
