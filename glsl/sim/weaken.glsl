// The pressure, taking off no more than `most` times what it is to take off (rms). Packed: four cells along x.

uniform float most;

void kernel(ivec3 pack) {
    vec4 squares = fetch_wholes(ivec3(0));  // of start_rows
    float allowed = most * most * squares.y;
    pressure_out = fetch_pressure(pack) * (squares.x > allowed ? sqrt(allowed / squares.x) : 1.0);
}
