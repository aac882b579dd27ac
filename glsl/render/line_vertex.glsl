// Lines through points, as strips as wide as asked in pixels; six vertices a segment. Neighbours share their corners.

uniform sampler2D even, odd;   // points: streamlines have them by turns in two textures, streaks all in `even`
uniform int points;            // of a line
uniform int head, slots;       // streaks: the column of the newest point, and of how many; slots 0: streamlines
uniform mat4 to_clip;          // cells -> clip space
uniform vec2 picture_size;     // pixels
uniform float line_width;      // pixels
uniform float fade;            // share of the points over which a line fades out at its end
uniform float longest;         // cells: a segment that is longer is none; it thins out from half of that on
uniform float natural;         // streaks: s between two releases, over the cell size; a flow that stretches nothing
                               // keeps points so far apart for each m/s
uniform vec2 range;            // speed: low end, 1 / (high - low)

out float across;              // pixels from the middle of the line
flat out float half_width;
out float value, strength;

// w < 0: none.
vec4 point(int line, int m) {
    if (m < 0 || m >= points) return vec4(-1.0);
    if (slots > 0) return texelFetch(even, ivec2((head - m + slots) % slots, line), 0);
    ivec2 at = ivec2(m >> 1, line);
    vec4 found = (m & 1) == 0 ? texelFetch(even, at, 0) : texelFetch(odd, at, 0);
    return found.w < -1.5 ? vec4(found.xyz, -2.0 - found.w) : found;
}

// Where a point is seen, pixels; `before` is false behind the eye.
vec2 seen(vec3 p, out bool before) {
    vec4 clip = to_clip * vec4(p, 1.0);
    before = clip.w > 1e-4;
    return 0.5 * picture_size * clip.xy / max(clip.w, 1e-4);
}

// How much of a segment is drawn: stretched dye grows thin.
float left_of(vec4 b, vec4 c) {
    float limit = max(longest, 2.0 * natural * max(b.w, c.w));
    return 1.0 - smoothstep(0.5, 1.0, distance(b.xyz, c.xyz) / limit);
}

void main() {
    int v = gl_VertexID % 6, segment = gl_VertexID / 6 % (points - 1), line = gl_VertexID / (6 * (points - 1));
    bool end = v == 1 || v == 2 || v == 4, high = v >= 2 && v != 3;
    vec4 b = point(line, segment), c = point(line, segment + 1);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    across = value = strength = 0.0;
    half_width = 0.5 * line_width;
    if (b.w < 0.0 || c.w < 0.0) return;
    float left = left_of(b, c);
    if (!(left > 0.0)) return;
    // a line that has left a periodic box comes in again at the other side
    vec3 shift = vec3(periodic) * vec3(cells) * floor(0.5 * (b.xyz + c.xyz) / vec3(cells));
    vec4 here = end ? c : b, other = point(line, end ? segment + 2 : segment - 1);
    bool ahead_b, ahead_c, ahead_other;
    vec2 at_b = seen(b.xyz - shift, ahead_b), at_c = seen(c.xyz - shift, ahead_c);
    vec2 at_other = seen(other.xyz - shift, ahead_other);
    if (!ahead_b || !ahead_c) return;
    vec2 own = at_c - at_b;
    own = dot(own, own) > 1e-12 ? normalize(own) : vec2(1.0, 0.0);
    vec2 beyond = end ? at_other - at_c : at_b - at_other;
    float next = other.w >= 0.0 ? left_of(other, here) : left;
    bool joined = other.w >= 0.0 && ahead_other && dot(beyond, beyond) > 1e-12 && next > 0.0;
    vec2 tangent = joined ? own + normalize(beyond) : own;
    tangent = dot(tangent, tangent) > 0.1 ? normalize(tangent) : own;
    vec2 normal = vec2(-tangent.y, tangent.x);
    float miter = 1.0 / max(dot(normal, vec2(-own.y, own.x)), 0.5);
    across = (high ? 1.0 : -1.0) * (half_width + 1.0);
    vec4 clip = to_clip * vec4(here.xyz - shift, 1.0);
    gl_Position = clip + vec4(2.0 * across * miter * normal / picture_size * clip.w, 0.0, 0.0);
    value = clamp((here.w - range.x) * range.y, 0.0, 1.0);
    float part = float(segment + (end ? 1 : 0)) / float(points - 1);
    strength = min(left, next) * (fade > 0.0 ? smoothstep(0.0, fade, 1.0 - part) : 1.0);
}
