// The points of streak lines carried on by the flow; a row a line, a column a point, of which `head` was released
// last. xyz: place, cells, not carried round a periodic box; w: speed, m/s, or -1: there is no point here.
#include "lib/component.glsl" for velocity
#include "render/kept_inside.glsl"
#include "render/slide.glsl"

uniform sampler2D before, seeds;
uniform int head, released;        // column of the newest point, and how many columns back from it are released now
uniform float age, interval;       // s since the newest one was released, and from one to the next
uniform float dt;                  // s

out vec4 point_out;

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int slots = textureSize(before, 0).x, back = (head - texel.x + slots) % slots;
    bool born = back < released, lost;
    point_out = texelFetch(before, texel, 0);
    float seconds = dt;
    if (born) {
        vec3 p = texelFetch(seeds, ivec2(texel.y, 0), 0).xyz;
#if DIMENSIONS == 2
        p.z = 0.5;
#endif
        point_out = vec4(p, outside_box(p) || in_solid(p) ? -1.0 : length(at_velocity(p)));
        seconds = age + float(back) * interval;   // it has been on its way since then
    }
    if (point_out.w < 0.0 || seconds == 0.0) return;
    vec3 p = point_out.xyz;
    float reach = seconds / cell_size;
    // the classical method of Runge & Kutta of fourth order (Kutta 1901)
    vec3 a = at_velocity(p), b = at_velocity(p + 0.5 * reach * a), c = at_velocity(p + 0.5 * reach * b);
    vec3 d = at_velocity(p + reach * c);
    vec3 q = p + reach / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    vec3 shift = vec3(periodic) * vec3(cells) * floor(p / vec3(cells)), end = slid(p - shift, q - shift);
    vec3 kept = kept_inside(end, lost);
    // walls hold it, but it is not carried round: the line goes on
    q = shift + mix(kept, end, periodic);
    point_out = vec4(q, lost || in_solid(kept) ? -1.0 : length(at_velocity(q)));
}
