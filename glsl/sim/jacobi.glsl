// One weighted Jacobi sweep of laplacian(pressure) = divergence / dt, m^2/s^2. Packed: four cells along x.
// Where a wall or a solid is the neighbour the cell's own pressure stands for it (zero normal gradient) and
// the sum is still divided by 2d, which also damps the checkerboard that dividing by the count would keep.
#include "lib/box.glsl"

uniform float scale;   // cell_size^2 / dt, m^2/s
uniform float weight;

void kernel(ivec3 pack) {
    const ivec3 last = packed_extent - 1;
    const int edge = cells.x - 1 - 4 * last.x;  // lane of the last cell of a row
    vec4 p = fetch_pressure(pack);
    float before = fetch_pressure(ivec3(max(pack.x - 1, 0), pack.yz)).w;
    float after = fetch_pressure(ivec3(min(pack.x + 1, last.x), pack.yz)).x;
    vec4 xm = vec4(before, p.xyz), xp = vec4(p.yzw, after);
    vec4 ym = fetch_pressure(ivec3(pack.x, max(pack.y - 1, 0), pack.z));
    vec4 yp = fetch_pressure(ivec3(pack.x, min(pack.y + 1, last.y), pack.z));
#if DIMENSIONS == 3
    vec4 zm = fetch_pressure(ivec3(pack.xy, max(pack.z - 1, 0)));
    vec4 zp = fetch_pressure(ivec3(pack.xy, min(pack.z + 1, last.z)));
#endif
#if SOLIDS
    ivec4 open = ivec4(int(fetch_openings(pack).x)) >> ivec4(0, 6, 12, 18);
    xm = mix(xm, p, equal(open & 1, ivec4(0)));
    xp = mix(xp, p, equal(open & 2, ivec4(0)));
    ym = mix(ym, p, equal(open & 4, ivec4(0)));
    yp = mix(yp, p, equal(open & 8, ivec4(0)));
#if DIMENSIONS == 3
    zm = mix(zm, p, equal(open & 16, ivec4(0)));
    zp = mix(zp, p, equal(open & 32, ivec4(0)));
#endif
#else
    if (pack.x == 0) xm.x = p.x;
    if (pack.x == last.x) xp[edge] = p[edge];
#endif
    vec4 sum = xm + xp + ym + yp;
#if DIMENSIONS == 3
    sum += zm + zp;
#endif
    vec4 relaxed = (sum - scale * fetch_divergence(pack)) * (0.5 / float(DIMENSIONS));
    pressure_out = mix(p, relaxed, weight);
}
