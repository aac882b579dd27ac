// The points of streak lines carried on by the flow; a row a line, a column a point, of which `head` was released
// last. xyz: place, cells, not carried round a periodic box; w: speed, m/s, or -1: there is no point here.
#include "render/flow_line.glsl"

uniform sampler2D before, seeds;
uniform int head;          // column that is released now; < 0: none
uniform float dt;          // s

out vec4 point_out;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    bool lost;
    if (texel.x == head) {
        vec3 p = texelFetch(seeds, ivec2(texel.y, 0), 0).xyz;
#if DIMENSIONS == 2
        p.z = 0.5;
#endif
        bool outside = any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(cells)));
        point_out = vec4(p, outside || in_solid(p) ? -1.0 : length(at_velocity(p)));
        return;
    }
    point_out = texelFetch(before, texel, 0);
    if (point_out.w < 0.0) return;
    vec3 p = point_out.xyz;
    float reach = dt / cell_size;
    vec3 a = at_velocity(p), b = at_velocity(p + 0.5 * reach * a), c = at_velocity(p + 0.5 * reach * b);
    vec3 d = at_velocity(p + reach * c);
    vec3 q = p + reach / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    vec3 shift = vec3(periodic) * vec3(cells) * floor(p / vec3(cells)), end = q - shift;
    stopped(p - shift, end);
    vec3 kept = kept_inside(end, lost);
    // walls hold it, but it is not carried round: the line goes on
    q = shift + mix(kept, end, periodic);
    point_out = vec4(q, lost || in_solid(kept) ? -1.0 : length(at_velocity(q)));
}
