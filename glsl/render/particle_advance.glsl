// Particles carried along with the flow; a texel a particle. xyz: place, cells; w: seconds since it was born,
// -1 while it waits for its first turn, -2 while it looks for a place to be born that is not solid.
#include "lib/component.glsl" for velocity
#include "lib/noise.glsl"
#include "lib/shape.glsl"
#include "render/kept_inside.glsl"
#include "render/slide.glsl"
#include "render/particle_turn.glsl"

uniform sampler2D before;
uniform float dt, passed;    // s; share of a life
uniform int turn, seed;      // number of this advance; of the random numbers

out vec4 particle_out;

const int TRIES = 16;

// A place in source `s`, spread evenly: the first of random ones in its bounds that is inside it.
vec3 birthplace(int index, int s) {
    vec4 core = source_row(s, 3);
    int kind = int(source_row(s, 4).x);
    vec3 reach = (kind == 1 ? core.xyx : core.xyz) + core.w, local = vec3(0.0);
    for (int n = 0; n < TRIES; ++n) {
        vec3 r = vec3(random(ivec3(index, turn, 3 * n), uint(seed)), random(ivec3(index, turn, 3 * n + 1), uint(seed)),
                      random(ivec3(index, turn, 3 * n + 2), uint(seed)));
        vec3 q = (2.0 * r - 1.0) * reach, v = beyond(kind, q, core.xyz);
        if (dot(v, v) <= core.w * core.w) {
            local = q;
            break;
        }
    }
    vec4 place = vec4(local, 1.0);
    return vec3(dot(source_row(s, 0), place), dot(source_row(s, 1), place), dot(source_row(s, 2), place));
}

// Where the flow carries what is at `p` (cells) in so many seconds: the midpoint rule, of second order.
vec3 followed(vec3 p, float seconds) {
    float reach = seconds / cell_size;
    return slid(p, p + reach * at_velocity(p + 0.5 * reach * at_velocity(p)));
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int index = texel.x + texel.y * textureSize(before, 0).x, s = source_of(index);
    vec4 was = texelFetch(before, texel, 0);
    particle_out = vec4(0.0, 0.0, 0.0, -1.0);
    if (s < 0) return;
    float spent = turn_of(index) + passed;
    bool due = spent >= 1.0, lost = was.w < -1.5;
    vec3 p = was.xyz;
    float age = was.w;
    if (was.w >= 0.0 && !due) {
        p = kept_inside(followed(p, dt), lost);
        lost = lost || in_solid(p);
        age += dt;
    }
    if (due || lost) {
        p = birthplace(index, s);
#if DIMENSIONS == 2
        p.z = 0.5;
#endif
        bool outside = any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(cells)));
        age = -2.0;
        if (!outside && !in_solid(p)) {
            // whose turn came within the step has been on its way since then
            age = due ? fract(spent) * dt / passed : 0.0;
            p = kept_inside(followed(p, age), lost);
            if (lost || in_solid(p)) age = -2.0;
        }
    }
    particle_out = vec4(p, age);
}
