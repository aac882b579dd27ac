// Sources: up to EMITTERS shapes, eight vec4 each.
#include "lib/box.glsl"
#include "lib/shape.glsl"
#if NOISE
#include "lib/noise.glsl"
#if ANY_PERIODIC
#include "lib/boxes_off.glsl"
#endif
#endif

// 0 .. 2: rows of the matrix from m from the low corner to the form's own space
// 3: core of the form, rounding (m)
// 4: kind of the form, 4 more where it is one more image of the shape before; 1 / width of the edge (1/m), for a hard one
//    minus the share of what the form covers that counts; how long it sets the velocity, and the temperature, in the time
//    in which it sets a share: 0 where it does not
// 5: density added in this step; temperature; fuel added in this step; share of the next noise, 0 .. 1
//    for coloured smoke: red, green and blue added in this step (and no temperature set); that share
// 6: velocity (m/s); strength of the noise, 0 .. 1
// 7: 1 / size of a patch (1/m); seeds of this noise and of the next; 0
uniform vec4 emitters[8 * EMITTERS];
// In a periodic box a shape has images, whole boxes away: each stands here by itself, one behind the other. A cell has the
// largest of their shares: the last brings it, the others bring nothing.
uniform vec4 middles[EMITTERS];  // of the shapes, not of their images (m from the low corner)
uniform vec3 noise_shift;  // m from where the box first stood to where it stands: noise stays where it is

// The share of emitter `n`, which by itself is `share`, where that of the one before is `before`.
float with_image(int n, float before, float share) {
#if ANY_PERIODIC
    return emitters[8 * n + 4].x > 3.5 ? max(before, share) : share;
#else
    return share;
#endif
}

// What noise leaves of emitter `n` at `p` (m from the low corner).
float flicker(int n, vec3 p) {
#if NOISE
    float strength = emitters[8 * n + 6].w;
    if (strength == 0.0) return 1.0;
#if ANY_PERIODIC
    // where the shape itself is that has an image here
    p -= vec3(periodic) * boxes_off(p - middles[n].xyz, vec3(cells) * cell_size);
#endif
    vec4 noise = emitters[8 * n + 7];
    vec3 q = (p + noise_shift) * noise.x;
    float now = patches(q, uint(noise.y)), next = patches(q, uint(noise.z));
    return 1.0 - strength * mix(now, next, emitters[8 * n + 5].w);
#else
    return 1.0;
#endif
}

// Share of a cell about `q` (m, in the form's own space) that emitter `n`, of a hard edge, covers.
float emitter_cover(int n, int kind, vec3 q, vec4 core) {
    if (core.w > 0.0) return cover(length(beyond(kind, q, core.xyz)), core.w, cell_size);
    vec3 wide = vec3(cell_size);
#if DIMENSIONS == 2
    // across its one slice a cell has no width: what is thin there fills it
    for (int axis = 0; axis < 3; ++axis) wide[axis] = max(cell_size * length(emitters[8 * n + axis].xy), 1e-6 * cell_size);
#endif
    if (kind == 2) return clamp(0.5 - q.y / wide.y, 0.0, 1.0);
    if (kind == 1) return cover(length(q.xz), core.x, cell_size) * cover(abs(q.y), core.y, wide.y);
    return cover(abs(q.x), core.x, wide.x) * cover(abs(q.y), core.y, wide.y) * cover(abs(q.z), core.z, wide.z);
}

// Share of emitter `n` at `p` (m from the low corner): 1 inside the shape, its edge outside; of a hard edge what
// the shape covers of the cell about `p`.
float emitter_weight(int n, vec3 p) {
    vec4 place = vec4(p, 1.0), core = emitters[8 * n + 3], edge = emitters[8 * n + 4];
    vec3 q = vec3(dot(emitters[8 * n], place), dot(emitters[8 * n + 1], place), dot(emitters[8 * n + 2], place));
    int kind = int(edge.x);
#if ANY_PERIODIC
    kind &= 3;
#endif
    if (edge.y <= 0.0) {
        float share = -edge.y * emitter_cover(n, kind, q, core);
        return share > 0.0 ? share * flicker(n, p) : 0.0;
    }
    float t = max(length(beyond(kind, q, core.xyz)) - core.w, 0.0) * edge.y;
    return t < 4.0 ? exp(-t * t) * flicker(n, p) : 0.0;
}

// The share that is set of a value where an emitter has the share `weight`, `times` as long as the time in which it sets
// that: so the length of a step is nothing to it.
const float NEARLY = 0.03125;  // below that what it lacks counts evenly: a power would make much of its rounding
float set_share(float weight, float times) {
    if (weight <= 0.0 || times <= 0.0) return 0.0;
    float lacks = max(1.0 - weight, 0.0);
    return 1.0 - pow(max(lacks, NEARLY), times) * min(lacks / NEARLY, 1.0);
}

// `scalars` with the share `weight` of emitter `n`.
vec4 with_emitted(int n, float weight, vec4 scalars) {
    vec4 values = emitters[8 * n + 5];
    weight *= float(scalars.w > 0.5);  // nothing in solids
    scalars.xz += weight * values.xz;
    float times = emitters[8 * n + 4].w;
    scalars.y += times > 0.0 ? (values.y - scalars.y) * set_share(weight, times) : weight * values.y;  // set, or added to
    return scalars;
}
