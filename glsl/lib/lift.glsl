// Buoyancy.

uniform vec4 rise;  // m/s^2: upward per unit of temperature above ambient; ambient; downward per density; 0
uniform vec3 up;    // unit vector against gravity

// How hard a cell is pulled upwards, m/s^2; 0 in solids. Smoke of any colour weighs as much as grey smoke.
float lift(ivec3 cell) {
    vec4 scalars = fetch_scalars(cell);
    float density = scalars.x;
#if DYED
    vec3 dye = fetch_color(cell).xyz;
    density += dye.x + dye.y + dye.z;
#endif
    return rise.x * (scalars.y - rise.y * scalars.w) - rise.z * density;
}
