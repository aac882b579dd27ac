// An arrow along the velocity, an instance each.
#include "lib/quotient.glsl"

uniform sampler2D velocities;
uniform mat4 to_clip;           // cells -> clip space
uniform ivec3 counts;
uniform vec3 first, spacing;    // cells
uniform float cells_per_speed;  // length of an arrow, cells per m/s
uniform float thickness;        // cells, of an arrow that is not short
uniform vec2 range;             // speed: low end, 1 / (high - low)

in vec3 position;               // x: along, 0 .. 1; yz: across, 1 at the shaft's surface
in vec3 normal;
out vec3 place, facing;         // cells
flat out float value;

void main() {
    int n = gl_InstanceID, width = textureSize(velocities, 0).x;
    vec4 u = texelFetch(velocities, ivec2(n % width, n / width), 0);
    float speed = length(u.xyz), size = speed * cells_per_speed;
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    place = facing = vec3(0.0);
    value = clamp((speed - range.x) * range.y, 0.0, 1.0);
    if (u.w < 0.5 || !(size > 0.02)) return;
    vec3 along = u.xyz / speed, side = abs(along.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    vec3 right = normalize(cross(along, side)), up = cross(right, along);
    float thick = thickness * min(1.0, size / (11.0 * thickness));   // a short arrow keeps its shape
    ivec3 at = counted(n, counts);
    // the head keeps its length, unless the arrow is short: x below 0 counts back from the tip
    float x = position.x >= 0.0 ? position.x * (size - 5.0 * thick) : size + position.x * 5.0 * thick;
    vec3 from = first + vec3(at) * spacing - 0.5 * size * along;
    place = from + x * along + thick * (position.y * right + position.z * up);
    facing = normal.x * along + normal.y * right + normal.z * up;
    gl_Position = to_clip * vec4(place, 1.0);
}
