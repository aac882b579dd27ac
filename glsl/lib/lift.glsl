// Buoyancy.

uniform vec4 rise;  // m/s^2: upward per unit of temperature above ambient; ambient; downward per density; 0
uniform vec3 up;    // unit vector against gravity

// How hard a cell of these scalars is pulled upwards, m/s^2; 0 in solids.
float lift(vec4 scalars) { return rise.x * (scalars.y - rise.y * scalars.w) - rise.z * scalars.x; }
