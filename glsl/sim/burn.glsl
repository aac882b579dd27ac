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
    float excess = here.y - ambient;
    if (radiation > 0.0 && excess > 0.0 && here.w > 0.5) {
        float most = max(excess, 1.0), share = excess / most;  // excess^3 of what is very hot is no float
        float left = 1.0 / (most * most * most) + 3.0 * radiation * dt * share * share * share;
        here.y = ambient + min(excess, share * pow(max(left, 1e-37), -1.0 / 3.0));
    }
    scalars_out = here;
}
