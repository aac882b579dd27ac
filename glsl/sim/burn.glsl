// Smoke, heat and less fuel where the flame has been for `dt` seconds, and what hot gas then loses by radiation. Cells;
// in solids nothing burns.

uniform float dt;         // s
uniform vec3 per_burn;    // density made, temperature made and fuel taken by one unit burnt
uniform float radiation;  // 1/s at a temperature of 1 above ambient
uniform float ambient;    // temperature

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 change = fetch_flame(cell).x * dt * per_burn;
    here += vec4(change.xy, -min(change.z, max(here.z, 0.0)), 0.0);  // rounding takes no more than there is
    if (radiation > 0.0 && here.w > 0.5) {
        float excess = max(here.y - ambient, 0.0);
        here.y -= excess * (1.0 - pow(1.0 + 3.0 * radiation * dt * excess * excess * excess, -1.0 / 3.0));
    }
    scalars_out = here;
}
