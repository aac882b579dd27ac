// One number of every cell, x; w: 1, and 0 in a solid, whose x is 0. QUANTITY picks it: see quantities.py.
#include "lib/box.glsl"

out vec4 shown_out;

#if QUANTITY == 9
#include "lib/curl.glsl"
#elif QUANTITY >= 5 && QUANTITY <= 8
#include "lib/center_velocity.glsl"
#endif

float measured(ivec3 cell) {
#if QUANTITY <= 2
    return fetch_scalars(cell)[QUANTITY];
#elif QUANTITY == 3
    vec4 pack = fetch_pressure(ivec3(cell.x >> 2, cell.yz));
    int lane = cell.x & 3;
    return lane == 0 ? pack.x : lane == 1 ? pack.y : lane == 2 ? pack.z : pack.w;
#elif QUANTITY == 4
    vec3 low = fetch_velocity(cell).xyz;
    float flow = fetch_velocity(cell + X).x - low.x + fetch_velocity(cell + Y).y - low.y;
#if DIMENSIONS == 3
    flow += fetch_velocity(cell + Z).z - low.z;
#endif
    return flow / cell_size;
#elif QUANTITY == 5
    return length(center_velocity(cell));
#elif QUANTITY <= 8
    return center_velocity(cell)[QUANTITY - 6];
#elif QUANTITY == 9
    return length(curl_at(cell));
#elif QUANTITY == 11 && FLAME
    return fetch_flame(cell).x;
#else
    return 0.0;  // nothing burns
#endif
}

void main() {
    ivec3 cell = cell_index(ivec2(gl_FragCoord.xy));
    shown_out = vec4(0.0);
    if (cell.z >= cells.z) return;
#if QUANTITY == 10
#if SOLIDS
    shown_out = vec4(fetch_solid(cell).x > 0.5 ? 1.0 : 0.0, 0.0, 0.0, 1.0);
#else
    shown_out.w = 1.0;
#endif
#else
#if SOLIDS
    if (fetch_solid(cell).x > 0.5) return;
#endif
    shown_out = vec4(measured(cell), 0.0, 0.0, 1.0);
#endif
}
