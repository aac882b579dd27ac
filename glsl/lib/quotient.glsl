// Whole numbers divided as floats: a software renderer takes far longer to divide them as they are, and to compile that.

// Whole part of a / b, for a >= 0 and below 2^22.
int quotient(int a, int b) { return int((float(a) + 0.5) / float(b)); }

// Where value `number` of a volume of `extent` lies, counted along x first, then along y.
ivec3 counted(int number, ivec3 extent) {
    int row = quotient(number, extent.x), slice = quotient(row, extent.y);
    return ivec3(number - row * extent.x, row - slice * extent.y, slice);
}
