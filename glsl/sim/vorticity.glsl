// Curl of the velocity at cell centres, 1/s; last channel: its length.
#include "lib/curl.glsl"

void kernel(ivec3 cell) {
    vec3 omega = curl_at(cell);
    vorticity_out = vec4(omega, length(omega));
}
