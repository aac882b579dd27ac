// The next point of streamlines, a row a line. xyz: place, cells, not carried round a periodic box; w: speed, m/s, or
// -1: there is no point here; -2 - speed: the last one, at a solid or a side.
// Steps are of equal length: the unit vector along the velocity is followed, by the classical method of Runge & Kutta of
// fourth order (Kutta 1901).
#include "lib/component.glsl" for velocity
#include "render/flow_line.glsl"

uniform sampler2D before, seeds;   // seeds: a texel a seed, cells
uniform int column, seed_count;    // column of the point before in its texture; < 0: the first point
uniform float stride;              // cells
uniform float least;               // m/s: what is slower ends a line

out vec4 point_out;

vec3 way(vec3 p, float turn, inout bool still) {
    vec3 u = at_velocity(p);
    float speed = length(u);
    still = still || !(speed > least);
    return turn * u / max(speed, 1e-30);
}

void main() {
    int line = int(gl_FragCoord.y);
    float turn = line < seed_count ? 1.0 : -1.0;   // the second half goes upstream
    if (column < 0) {
        vec3 p = texelFetch(seeds, ivec2(line % seed_count, 0), 0).xyz;
#if DIMENSIONS == 2
        p.z = 0.5;
#endif
        float speed = length(at_velocity(p));
        point_out = vec4(p, outside_box(p) || in_solid(p) || !(speed > least) ? -1.0 : speed);
        return;
    }
    vec4 was = texelFetch(before, ivec2(column, line), 0);
    point_out = vec4(was.xyz, -1.0);
    if (was.w < 0.0) return;
    vec3 p = was.xyz;
    bool still = false;
    vec3 a = way(p, turn, still), b = way(p + 0.5 * stride * a, turn, still);
    vec3 c = way(p + 0.5 * stride * b, turn, still), d = way(p + stride * c, turn, still);
    if (still) return;
    vec3 q = p + stride / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    // solids are looked for in the box; the line itself goes on beyond a periodic side
    vec3 shift = vec3(periodic) * vec3(cells) * floor(p / vec3(cells)), end = q - shift;
    bool last = stopped(p - shift, end);
    q = end + shift;
    vec3 low = mix(vec3(0.0), vec3(-1e30), periodic), high = mix(vec3(cells), vec3(1e30), periodic);
    vec3 inside = clamp(q, low, high);
    last = last || inside != q;
    float speed = length(at_velocity(inside));
    point_out = vec4(inside, last ? -2.0 - speed : speed);
}
