// Complex numbers in a wave field: a row of real numbers taken two by two, two complex numbers to a texel.
// `roots` holds, at n of `most`, cos and sin of -2 pi n / most and 4 sin^2(pi n / most), rounded once in Python: a
// GPU's own sin and cos are good to a few digits only.
#include "lib/box.glsl"

const int most = max(cells.x, max(cells.y, cells.z));
const int half_row = max(cells.x / 2, 1);  // complex numbers in a row of cells; of one cell alone the real part

vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// The products of the first two complex numbers of each and of the last two.
vec4 times_two(vec4 a, vec4 b) { return vec4(times(a.xy, b.xy), times(a.zw, b.zw)); }

vec4 root(int n) { return fetch_roots(ivec3(0, 0, n)); }
