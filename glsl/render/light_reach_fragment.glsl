// Layers in which the columns of a group may cross a box: the opposite of the first, and the last. Blending keeps
// the largest.

flat in vec4 sides;
flat in vec2 depths, slope, first_column;
flat in float first_row;
out vec4 reach_out;

void main() {
    reach_out = vec4(-1e6, -1e6, 0.0, 0.0);
    vec2 group = floor(gl_FragCoord.xy) - vec2(0.0, first_row), size = vec2(GROUP_SIZE);
    vec2 column = first_column + 0.5 + group * size, after = column + size - 1.0;
    // the depths at which the columns lie beside the box
    vec2 a = (sides.xy - after) / slope, b = (sides.zw - column) / slope;
    vec2 begin = min(a, b), end = max(a, b);
    float first = max(max(begin.x, begin.y), depths.x) - 0.05, last = min(min(end.x, end.y), depths.y) + 0.05;
    if (first <= last) reach_out.xy = vec2(-floor(first), floor(last));
}
