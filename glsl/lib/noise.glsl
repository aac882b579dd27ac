// Patches that come and go: value noise between random numbers on a lattice.

// Three whole numbers to a random one in 0 .. 1: pcg3d (Jarzynski & Olano 2020, Hash Functions for GPU
// Rendering); 24 bits, which a float holds exactly.
float random(ivec3 lattice, uint seed) {
    uvec3 v = uvec3(lattice) + seed * uvec3(747796405u, 2891336453u, 277803737u);
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z;
    return float(v.x >> 8u) / 16777216.0;
}

// Smooth noise in 0 .. 1 with a patch to each unit of `p`.
float patches(vec3 p, uint seed) {
    ivec3 i = ivec3(floor(p));
    vec3 f = p - floor(p);  // of patches so small that no integer counts them too
    f = f * f * (3.0 - 2.0 * f);
    vec4 near = vec4(random(i, seed), random(i + ivec3(1, 0, 0), seed),
                     random(i + ivec3(0, 1, 0), seed), random(i + ivec3(1, 1, 0), seed));
    i.z += 1;
    vec4 far = vec4(random(i, seed), random(i + ivec3(1, 0, 0), seed),
                    random(i + ivec3(0, 1, 0), seed), random(i + ivec3(1, 1, 0), seed));
    vec4 edge = mix(near, far, f.z);
    return mix(mix(edge.x, edge.y, f.x), mix(edge.z, edge.w, f.x), f.y);
}
