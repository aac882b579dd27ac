// What flows at a place of the world, for a shader of your own. `fluid.give(program)` sets these uniforms and binds the
// two textures, as they are now: once after each step.
uniform sampler2D gpufluid_scalars, gpufluid_velocity;
uniform vec3 gpufluid_origin;    // low corner of the box, m
uniform float gpufluid_cell_size;  // m
uniform ivec3 gpufluid_cells;
uniform bvec3 gpufluid_periodic;  // along which axes the box repeats: there a place counts modulo the box
uniform ivec2 gpufluid_tiles;    // slices in a row of the textures: of the scalars, of the velocity
uniform bool gpufluid_grips[6];  // whether the sides x-, x+, y-, y+, z-, z+ are no-slip walls or inflows
uniform vec3 gpufluid_wall_velocities[6];  // of the sides, m/s

// Texel of value `index` of a flat texture whose slices are `tile` texels, `columns` to a row.
ivec2 gpufluid_texel(ivec3 index, ivec2 tile, int columns) {
    return ivec2(index.z % columns, index.z / columns) * tile + index.xy;
}

// A place in cells from the low corner of the box.
vec3 gpufluid_in_cells(vec3 world) {
    vec3 p = (world - gpufluid_origin) / gpufluid_cell_size, n = vec3(gpufluid_cells);
    p -= mix(vec3(0.0), floor(p / n) * n, gpufluid_periodic);
    // next to a side GPUs may count one box more, or one less
    return p + mix(vec3(0.0), n * (vec3(lessThan(p, vec3(0.0))) - vec3(greaterThan(p, n))), gpufluid_periodic);
}

// Trilinear value at `p`, counted in values from 0 and held at the outermost, of a flat texture of `size` values.
vec4 gpufluid_trilinear(sampler2D flat_texture, vec3 p, ivec3 size, ivec2 tile, int columns) {
    p = mix(clamp(p, vec3(0.0), vec3(size - 1)), p, gpufluid_periodic);
    ivec3 low = ivec3(floor(p));
    low -= ivec3(not(gpufluid_periodic)) * (low - min(low, max(size - 2, ivec3(0))));
    vec3 part = p - vec3(low);
    vec4 sum = vec4(0.0);
    for (int n = 0; n < 8; ++n) {
        ivec3 corner = ivec3(n & 1, n >> 1 & 1, n >> 2 & 1), at = low + corner;
        vec3 share = mix(1.0 - part, part, equal(corner, ivec3(1)));
        ivec3 away = ivec3(lessThan(at, ivec3(0))) - ivec3(greaterThanEqual(at, gpufluid_cells));
        at = min(at + ivec3(gpufluid_periodic) * away * gpufluid_cells, size - 1);
        sum += share.x * share.y * share.z * texelFetch(flat_texture, gpufluid_texel(at, tile, columns), 0);
    }
    return sum;
}

bool gpufluid_inside(vec3 world) {
    vec3 p = gpufluid_in_cells(world);
    return p == clamp(p, vec3(0.0), vec3(gpufluid_cells));
}

// Density, temperature, fuel, and 1 in fluid, at a place in metres; 0 outside the box and in solids, which hold nothing.
// Beside them the mean is over the fluid alone; past one thinner than a cell it sees the other side.
vec4 gpufluid_scalars_at(vec3 world) {
    if (!gpufluid_inside(world)) return vec4(0.0);
    vec3 at = gpufluid_in_cells(world), p = at - 0.5;
    ivec3 cell = min(ivec3(at), gpufluid_cells - 1);
    if (texelFetch(gpufluid_scalars, gpufluid_texel(cell, gpufluid_cells.xy, gpufluid_tiles.x), 0).w < 0.5) return vec4(0.0);
    vec4 mean = gpufluid_trilinear(gpufluid_scalars, p, gpufluid_cells, gpufluid_cells.xy, gpufluid_tiles.x);
    return mean / max(mean.w, 0.05);
}

// Velocity at a place in metres, m/s; 0 outside the box.
vec3 gpufluid_velocity_at(vec3 world) {
    if (!gpufluid_inside(world)) return vec3(0.0);
    vec3 at = gpufluid_in_cells(world), p = at - 0.5, u = vec3(0.0);
    ivec2 tile = gpufluid_cells.xy + 1;
    for (int axis = 0; axis < 3; ++axis) {
        if (axis == 2 && gpufluid_cells.z == 1) break;  // 2D: nothing flows across
        ivec3 size = gpufluid_cells;
        size[axis] += 1;  // component i lives on the low faces along axis i, and on the last high ones
        vec3 q = p;
        q[axis] += 0.5;
        float plain = gpufluid_trilinear(gpufluid_velocity, q, size, tile, gpufluid_tiles.y)[axis];
        // within half a cell of the sides that grip it falls to their own, as in lib/walls.glsl: along an edge of two it
        // is the mean of one behind the other and the reverse, as neither goes before the other
        vec3 kept = vec3(1.0), given = vec3(0.0);  // by the sides of each axis: the share of `plain`, and theirs
        for (int side = 0; side < 6; ++side) {
            int across = side / 2;
            if (across == axis || !gpufluid_grips[side]) continue;
            float off = side % 2 == 0 ? at[across] : float(gpufluid_cells[across]) - at[across];
            float share = clamp(2.0 * off, 0.0, 1.0);
            kept[across] *= share;
            given[across] = mix(gpufluid_wall_velocities[side][axis], given[across], share);
        }
        u[axis] = plain * kept.x * kept.y * kept.z + 0.5 * dot(given, 1.0 + kept.yzx * kept.zxy);
    }
    return u;
}
