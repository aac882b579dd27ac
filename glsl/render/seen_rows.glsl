// Which of eight cells in a row show anything: a bit each, as a number.
#include "lib/box.glsl"

out float row_out;

void main() {
    ivec3 row = rows_index(ivec2(gl_FragCoord.xy));
    row_out = 0.0;
    if (row.z >= cells.z) return;
    int bits = 0, first = 8 * row.x, count = min(cells.x - first, 8);
    for (int n = 0; n < count; ++n) bits |= int(fetch_shaded(ivec3(first + n, row.yz)) != vec4(0.0)) << n;
    row_out = float(bits);
}
