// The transform of the pressure from that of its Laplacian: over -sum of 4 sin^2(pi k / count), what the differences
// between neighbours make of a wave, and over the count that a transform there and back multiplies by. The mean, of
// which the Laplacian tells nothing, becomes 0. Two complex numbers of a row to a texel.
#include "lib/complex.glsl"

float inverse(float symbol) { return symbol > 0.0 ? -1.0 / (symbol * float(half_row * cells.y * cells.z)) : 0.0; }

// A row's even cells are the real parts, its odd ones the imaginary parts: own = E + i O. The wave k of all its cells
// is E + turn * O, the wave k + half_row is E - turn * O. In rows of one cell both are the same wave.
vec2 divided(vec2 own, int k, ivec2 mirrored, float across) {
    int opposite = k == 0 ? 0 : half_row - k;
    vec4 two = fetch_transform(ivec3(opposite >> 1, mirrored));
    vec2 other = ((opposite & 1) == 0 ? two.xy : two.zw) * vec2(1.0, -1.0);
    vec2 even = 0.5 * (own + other), odd = 0.5 * (own - other);
    odd = vec2(odd.y, -odd.x);
    int stride = most / cells.x;
    vec4 low = root(k * stride), high = root(min(k + half_row, cells.x - 1) * stride);
    float a = inverse(low.z + across), b = inverse(high.z + across);
    vec2 turned = 0.5 * (a + b) * even + 0.5 * (a - b) * times(low.xy, odd);
    odd = 0.5 * (a + b) * odd + 0.5 * (a - b) * times(low.xy * vec2(1.0, -1.0), even);
    return turned + vec2(-odd.y, odd.x);
}

void kernel(ivec3 pack) {
    float across = root(pack.y * (most / cells.y)).z + root(pack.z * (most / cells.z)).z;
    ivec2 mirrored = (cells.yz - pack.yz) * ivec2(notEqual(pack.yz, ivec2(0)));
    vec4 two = fetch_transform(pack);
    transform_out.xy = divided(two.xy, 2 * pack.x, mirrored, across);
    transform_out.zw = divided(two.zw, min(2 * pack.x + 1, half_row), mirrored, across);
}
