// What a block of cells may take of the light, written down by group of columns: one triangle over the groups that
// cross the box round what it holds, and some beside them, which find that they do not.
#include "lib/box.glsl"
#include "render/box_cells.glsl"
#include "lib/quotient.glsl"

uniform mat4 light_matrix;   // place (cells) -> column (xy), depth (z), light cells
uniform vec2 light_first;    // the first column
uniform vec2 light_start;    // how far columns lie before whole places
uniform vec2 group_size;     // columns
uniform vec2 group_count;

flat out vec3 low, high;     // the box, cells: a cell is sampled up to a cell from its middle

void main() {
    int number = int(uint(gl_VertexID) / 3u), corner = gl_VertexID - 3 * number;
    ivec3 block = counted(number, boxes_extent);
    vec2 held = fetch_boxes(block).zw;
    low = high = vec3(0.0);
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    if (held.x < 0.0) return;
    box_cells(block, held, low, high);
    low -= 0.5625;
    high += 0.5625;
    // at the sides the outermost cell holds on; a filter that rounds reads a trace of the one before it
    low = mix(low, vec3(0.0), lessThan(low, vec3(1.0)));
    high = mix(high, vec3(cells), greaterThan(high, vec3(cells) - 1.0));
    vec2 column = (light_matrix * vec4(0.5 * (low + high), 1.0)).xy - 0.5 + light_start - light_first;
    vec3 half_size = 0.5 * (high - low);
    vec2 aside = abs(light_matrix[0].xy) * half_size.x + abs(light_matrix[1].xy) * half_size.y + abs(light_matrix[2].xy) * half_size.z + 0.05;
    vec2 least = clamp(floor((column - aside) / group_size), vec2(-1.0), group_count);
    vec2 most = clamp(floor((column + aside) / group_size), vec2(-1.0), group_count) + 1.0;
    vec2 group = least + 2.0 * (most - least) * vec2(corner & 1, corner >> 1);
    gl_Position = vec4(2.0 * group / group_count - 1.0, 0.0, 1.0);
}
