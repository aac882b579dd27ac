// The numbers of the blocks that hold fire, one after the other; -1 behind the last.
#include "lib/quotient.glsl"

out float number_out;

void main() {
    int left = int(gl_FragCoord.x);  // how many come before
    number_out = -1.0;
    for (int n = 0; n < blocks_extent.x * blocks_extent.y * blocks_extent.z; ++n) {
        vec3 fire = fetch_blocks(counted(n, blocks_extent)).xyz;
        if (fire.x + fire.y + fire.z <= 0.0) continue;
        if (left == 0) {
            number_out = float(n);
            break;
        }
        --left;
    }
}
