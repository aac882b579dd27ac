// Velocity after `dt` seconds of buoyancy and vorticity confinement, m/s, in one pass: what sim/vorticity.glsl,
// sim/confinement.glsl and sim/force_field.glsl do in three, of each of which a GPU waits for its memory. 3D. Faces.
// A workgroup writes a BLOCK of faces. It walks up through the slices of that, an invocation a column, and reads each
// value once: with a new slice of the velocity it knows the curl one slice below, with that the pull on the cells below
// that one, and with that the velocity on the faces below those. What is needed above and below a place an invocation
// holds; what its neighbours need of the latest slices is shared. Round the block a workgroup computes what its own
// faces need as well. What lies between is neither rounded to half floats nor bounded.
#include "lib/confined.glsl"
#include "lib/lift.glsl"
#include "lib/solids.glsl"
#include "lib/turning.glsl"

uniform float dt;  // s

const ivec3 block = ivec3(BLOCK_COLUMNS, BLOCK_ROWS, BLOCK_SLICES);
const int before = 3, after = 2;  // columns, rows and slices of faces that those of a block need round it
const int wide = BLOCK_COLUMNS + before + after, high = BLOCK_ROWS + before + after, many = wide * high;

// Of the latest slices: the velocity, the length of the curl, the pull on cells. Each twice, which take turns: while
// some still read one, others write the next, and all wait for each other but once a slice.
shared float u_plane[2 * many], v_plane[2 * many], w_plane[2 * many];
shared float length_plane[2 * many], pull_x_plane[2 * many], pull_y_plane[2 * many];

// The cell of a place, or the nearest where a side lies between: as `neighbour`, but not brought back round periodic
// axes.
ivec3 near(ivec3 place) {
    ivec3 closes = ivec3(periodic);
    return closes * place + (1 - closes) * in_box(place);
}

// What is stored for a place, which may be as far beyond the sides as a block looks. last: the highest.
ivec3 stored(ivec3 place, ivec3 last) {
    ivec3 closes = ivec3(periodic);
    return closes * ((place + before * cells) % cells) + (1 - closes) * clamp(place, ivec3(0), last);
}

void kernel(ivec3 group) {
    ivec3 first = group * block, last = min(first + block, face_extent);
    ivec2 corner = first.xy - before, lane = ivec2(gl_LocalInvocationID.xy), place = corner + lane;
    // whole rows of a workgroup, which run together, are left out where nobody needs their values
    bool writes = all(greaterThanEqual(place, first.xy)) && all(lessThan(place, last.xy));
    bool pulls = all(greaterThanEqual(place, first.xy - 1)) && all(lessThan(place, last.xy));
    bool turns = all(greaterThanEqual(place, first.xy - 2)) && all(lessThanEqual(place, last.xy));
    ivec2 cell = near(ivec3(place, 0)).xy, mid = cell - corner;
    ivec2 low = near(ivec3(cell - 1, 0)).xy - corner, next = near(ivec3(cell + 1, 0)).xy - corner;
    ivec2 left = near(ivec3(place - 1, 0)).xy - corner;
    int own = lane.y * wide + lane.x, at = mid.y * wide + mid.x;
    int xm = mid.y * wide + low.x, xp = mid.y * wide + next.x, ym = low.y * wide + mid.x, yp = next.y * wide + mid.x;
    int pull_xm = lane.y * wide + left.x, pull_ym = left.y * wide + lane.x;
    vec2 over = reach_over(ivec3(cell, 0)).xy;

    // of the latest slice, and of the one, two and three below that
    vec3 u[4] = vec3[4](vec3(0.0), vec3(0.0), vec3(0.0), vec3(0.0));  // velocity in the own column
    vec2 xs[3] = vec2[3](vec2(0.0), vec2(0.0), vec2(0.0)), ys[3] = xs;  // x on the faces of the cell, and y
    vec4 across[2] = vec4[2](vec4(0.0), vec4(0.0));  // z beside it, on xm, xp, ym, yp
    float about_z[2] = float[2](0.0, 0.0);  // what turns about z
    vec4 spin = vec4(0.0);  // curl, and its length
    float length_below = 0.0;
    vec3 pull = vec3(0.0);
    float pull_below = 0.0;
    vec3 ahead = fetch_velocity(stored(ivec3(place, first.z - before), cells)).xyz;
    for (int z = first.z - before; z <= last.z + after; ++z) {
        int turn = (z & 1) * many;
        u[3] = u[2];
        u[2] = u[1];
        u[1] = u[0];
        u[0] = ahead;
        if (z == cells.z && !periodic.z) u[0].xy = u[1].xy;  // no faces, and the slice below stands for them
        u_plane[turn + own] = u[0].x;
        v_plane[turn + own] = u[0].y;
        w_plane[turn + own] = u[0].z;
        length_plane[turn + own] = spin.w;
        pull_x_plane[turn + own] = pull.x;
        pull_y_plane[turn + own] = pull.y;
        memoryBarrierShared();
        barrier();
        ahead = fetch_velocity(stored(ivec3(place, z + 1), cells)).xyz;  // it is used one slice later
        if (writes && z - 3 >= first.z) {
            ivec3 face = ivec3(place, z - 3);
            float below = face.z == 0 && !periodic.z ? pull.z : pull_below;
            vec3 force = 0.5 * (pull + vec3(pull_x_plane[turn + pull_xm], pull_y_plane[turn + pull_ym], below));
            put(face, kept(vec4(constrained(face, u[3] + dt * force), 0.0)));
        }
        pull_below = pull.z;
        vec4 spin_above = vec4(0.0);
        if (turns) {
            float over_z = reach_over(ivec3(cell, z - 1)).z;
            xs[2] = xs[1];
            xs[1] = xs[0];
            xs[0] = vec2(u_plane[turn + at], u_plane[turn + at + 1]);
            ys[2] = ys[1];
            ys[1] = ys[0];
            ys[0] = vec2(v_plane[turn + at], v_plane[turn + at + wide]);
            across[1] = across[0];
            across[0] = vec4(w_plane[turn + xm], w_plane[turn + xp], w_plane[turn + ym], w_plane[turn + yp]);
            about_z[1] = about_z[0];
            about_z[0] = turning(
                vec2(v_plane[turn + xp], v_plane[turn + xp + wide]),
                vec2(v_plane[turn + xm], v_plane[turn + xm + wide]),
                vec2(u_plane[turn + yp], u_plane[turn + yp + 1]), vec2(u_plane[turn + ym], u_plane[turn + ym + 1]),
                over.x, over.y);
            vec3 omega = vec3(
                turning(vec2(across[1].w, across[0].w), vec2(across[1].z, across[0].z), ys[0], ys[2], over.y, over_z),
                turning(xs[0], xs[2], vec2(across[1].y, across[0].y), vec2(across[1].x, across[0].x), over_z, over.x),
                about_z[1]);
            omega *= 0.25 / cell_size;
            spin_above = vec4(omega, length(omega));
        }
        int slice = z - 2;
        if (pulls && (periodic.z || slice < cells.z)) {  // above them the last cells stand for others
            vec3 growth = vec3(length_plane[turn + xp] - length_plane[turn + xm],
                               length_plane[turn + yp] - length_plane[turn + ym],
                               (slice == cells.z - 1 && !periodic.z ? spin.w : spin_above.w)
                               - (slice == 0 && !periodic.z ? spin.w : length_below));
            growth *= 0.5 * vec3(over, reach_over(ivec3(cell, slice)).z);
            pull = confined(spin, growth) + lift(stored(ivec3(cell, slice), cells - 1)) * up;
        }
        length_below = spin.w;
        spin = spin_above;
    }
}
