// How many strips of a slice may hold anything after a stage.
#include "lib/box.glsl"
#include "lib/turns.glsl"

out vec4 count_out;

void main() {
    ivec3 deep = deep_index(ivec2(gl_FragCoord.xy));
    count_out = vec4(0.0);
    if (deep.z >= deep_extent.z) return;
    ivec2 strip = ivec2(0);
    do {
        strip.x = 0;
        do {
            vec2 span = fetch_spans(ivec3(strip, deep.z)).zw;
            count_out.x += float(span.x < span.y);
        } while (++strip.x < turns(strip_extent.x));
    } while (++strip.y < turns(strip_extent.y));
}
