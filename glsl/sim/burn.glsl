// Smoke, heat and less fuel where the flame has been for `dt` seconds. Cells; in solids, which hold no fuel, nothing burns.

uniform float dt;       // s
uniform vec3 per_burn;  // density made, temperature made and fuel taken by one unit burnt

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    vec3 change = fetch_flame(cell).x * dt * per_burn;
    scalars_out = here + vec4(change.xy, -min(change.z, max(here.z, 0.0)), 0.0);  // rounding takes no more than there is
}
