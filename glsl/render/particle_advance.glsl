// Particles carried along with the flow; a texel a particle. xyz: place, cells; w: seconds since it was born,
// -1 while it waits for its first turn, -2 while it looks for a place to be born that is not solid. Another texel holds
// its velocity, m/s.
#include "lib/component.glsl" for velocity
#include "lib/noise.glsl"
#include "lib/shape.glsl"
#include "render/kept_inside.glsl"
#include "render/slide.glsl"
#include "render/particle_turn.glsl"

uniform sampler2D before, paces;
uniform float dt, passed;    // s; share of a life
uniform int turn, seed;      // number of this advance; of the random numbers
uniform float response, fall, bounce;   // s; m/s; share of the speed

layout(location = 0) out vec4 particle_out;
layout(location = 1) out vec4 pace_out;

const int TRIES = 16;
const float TAU = 6.28318531;
const float STOPPED = 1e-4;  // cells that something was kept from going, beyond rounding

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

// The velocity that something is born with at `p`.
vec3 birth_pace(int index, int s, vec3 p) {
    vec4 given = source_row(s, 5);
    vec3 r = vec3(random(ivec3(index, turn, 3 * TRIES), uint(seed)), random(ivec3(index, turn, 3 * TRIES + 1), uint(seed)),
                  random(ivec3(index, turn, 3 * TRIES + 2), uint(seed)));
    float up = 2.0 * r.x - 1.0, turned = TAU * r.y, across = sqrt(max(1.0 - up * up, 0.0));
    vec3 off = pow(r.z, 1.0 / 3.0) * vec3(across * cos(turned), up, across * sin(turned));   // evenly, in a ball
    vec3 pace = (source_row(s, 4).w > 0.5 ? given.xyz : at_velocity(p)) + given.w * off;
#if DIMENSIONS == 2
    pace.z = 0.0;
#endif
    return pace;
}

// What drag makes of a particle in `seconds`: the share of what it lacks of the air's velocity that it takes up, in the
// end and in the mean of the way.
vec2 taken_up(float seconds, float own_response) {
    if (own_response <= 0.0) return vec2(1.0);
    float x = seconds / own_response;
    float mean = x < 0.01 ? x * (0.5 - x / 6.0) : 1.0 - (1.0 - exp(-x)) / x;   // there exp would leave rounding alone
    return vec2(x * (1.0 - mean), mean);
}

// Where a particle that was at `p` (cells) with velocity `v` (m/s) is `seconds` later, and how fast: Stokes' drag, in air
// in which it would fall evenly, exact for air that blows evenly; the air is that half-way, so that it is of second order.
// What responds at once goes with the air, by the midpoint rule. What leads into a wall or a solid is thrown back, or lost.
vec3 flown(vec3 p, inout vec3 v, float grain, float seconds, out bool lost) {
    float own_response = response * grain * grain, reach = seconds / cell_size;
    vec3 sink = vec3(0.0, -fall * grain * grain, 0.0);
    vec2 half_way = taken_up(0.5 * seconds, own_response), whole = taken_up(seconds, own_response);
    vec3 u = at_velocity(p) + sink;
    u = at_velocity(p + 0.5 * reach * mix(v, u, half_way.y)) + sink;
    vec3 end = p + reach * mix(v, u, whole.y), q = kept_inside(slid(p, end), lost);
    v += whole.x * (u - v);
    vec3 off = q - end, n = vec3(cells);
    off -= vec3(periodic) * n * floor(off / n + 0.5);
    float squared = dot(off, off);
    if (squared > STOPPED * STOPPED) v -= (1.0 + bounce) * min(dot(v, off), 0.0) / squared * off;
    return q;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    int index = texel.x + texel.y * textureSize(before, 0).x, s = source_of(index);
    vec4 was = texelFetch(before, texel, 0);
    particle_out = vec4(0.0, 0.0, 0.0, -1.0);
    pace_out = vec4(0.0);
    if (s < 0) return;
    float spent = turn_of(index) + passed, grain = grain_of(index);
    bool due = spent >= 1.0, lost = was.w < -1.5;
    vec3 p = was.xyz, v = texelFetch(paces, texel, 0).xyz;
    float age = was.w;
    if (was.w >= 0.0 && !due) {
        p = flown(p, v, grain, dt, lost);
        lost = lost || in_solid(p);
        age += dt;
    }
    if ((due || lost) && source_row(s, 4).x < 0.0) {
        age = -1.0;
        v = vec3(0.0);
    } else if (due || lost) {
        p = birthplace(index, s);
#if DIMENSIONS == 2
        p.z = 0.5;
#endif
        age = -2.0;
        v = vec3(0.0);
        if (!outside_box(p) && !in_solid(p)) {
            // whose turn came within the step has been on its way since then
            age = due ? fract(spent) * dt / passed : 0.0;
            v = birth_pace(index, s, p);
            p = flown(p, v, grain, age, lost);
            if (lost || in_solid(p)) age = -2.0;
        }
    }
    particle_out = vec4(p, age);
    pace_out = vec4(v, 0.0);
}
