// Layers in which the columns of a group may cross a box: the opposite of the first, and the last. Blending keeps
// the largest.

uniform mat4 light_matrix;   // place (cells) -> column (xy), depth (z), light cells
uniform vec3 light_axes;     // the number of the axis of columns, of rows and of the walk
uniform vec2 light_slope;    // lateral place per layer, no component 0
uniform vec2 light_first, light_start, group_size;
uniform float light_scale;   // light cells per cell

flat in vec3 low, high;
out vec4 reach_out;

float part(vec3 v, float axis) { return axis < 0.5 ? v.x : axis < 1.5 ? v.y : v.z; }

void main() {
    vec2 column = light_first + floor(gl_FragCoord.xy) * group_size + 0.5 - light_start;
    vec2 after = column + group_size - 1.0;
    // the depths at which the columns lie beside the box
    vec2 least = light_scale * vec2(part(low, light_axes.x), part(low, light_axes.y)) - 0.05;
    vec2 most = light_scale * vec2(part(high, light_axes.x), part(high, light_axes.y)) + 0.05;
    vec2 a = (least - after) / light_slope, b = (most - column) / light_slope;
    vec2 begin = min(a, b), end = max(a, b);
    float one = (light_matrix * vec4(low, 1.0)).z, other = (light_matrix * vec4(high, 1.0)).z;
    float first = max(max(begin.x, begin.y), min(one, other)) - 0.05;
    float last = min(min(end.x, end.y), max(one, other)) + 0.05;
    reach_out = vec4(first <= last ? vec2(-floor(first), floor(last)) : vec2(-1e6), 0.0, 0.0);
}
