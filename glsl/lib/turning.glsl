// The curl about an axis, times four cells: how far the velocity upwards on `right` exceeds that on `left`, less how
// far that to the right `above` exceeds that `below`, each on two faces side by side. over_right, over_above: see
// `reach_over`.
float turning(vec2 right, vec2 left, vec2 above, vec2 below, float over_right, float over_above) {
    return (right.x + right.y - left.x - left.y) * over_right - (above.x + above.y - below.x - below.y) * over_above;
}
