// What diffusion takes for the neighbour beyond a side of the box, from the value on this side of it.
// Sides: 0 x-, 1 x+, 2 y-, 3 y+, 4 z-, 5 z+; `side` is always a constant, so all this is decided at compile time.

// Velocity components that lie in the side: mirrored about the velocity of a no-slip wall or an inflow, the
// same beyond a side that lets them glide.
vec3 velocity_beyond(int side, vec3 own) {
    return (NO_SLIP >> side & 1) != 0 ? 2.0 * wall_velocity[side] - own : own;
}

// Density, temperature, fuel: the same beyond a side, so nothing passes it, but for heat where it has a
// temperature.
vec3 scalars_beyond(int side, vec3 own) {
    bool heated = (HEATED >> side & 1) != 0;
    return heated ? vec3(own.x, 2.0 * wall_temperature[side] - own.y, own.z) : own;
}
