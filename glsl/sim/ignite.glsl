// How much burns per second, on average over the next `dt` seconds, where there is fuel above ignition. Cells.
// The burn rate grows with the temperature it raises; `growth` is the solution in closed form, see combustion.py.

uniform float dt;             // s
uniform float ignition;       // temperature
uniform float growth;         // burnt in dt per unit of temperature above ignition, were there fuel without end
uniform float fuel_per_burn;  // fuel taken by one unit burnt

void kernel(ivec3 cell) {
    vec4 here = fetch_scalars(cell);
    float burnt = min(max(here.z, 0.0) / fuel_per_burn, growth * max(here.y - ignition, 0.0));
    if (here.w < 0.5) burnt = 0.0;  // in a solid
    flame_out = vec4(burnt / dt, 0.0, 0.0, 0.0);
}
