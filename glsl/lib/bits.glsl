// The lowest and the highest of the eight bits of `bits`, of which one at least is set.

int lowest_bit(int bits) {
    int n = 0;
    if ((bits & 15) == 0) { n += 4; bits >>= 4; }
    if ((bits & 3) == 0) { n += 2; bits >>= 2; }
    return n + 1 - (bits & 1);
}

int highest_bit(int bits) {
    int n = 0;
    if (bits > 15) { n += 4; bits >>= 4; }
    if (bits > 3) { n += 2; bits >>= 2; }
    return n + int(bits > 1);
}
