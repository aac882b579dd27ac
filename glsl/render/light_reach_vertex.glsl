// What a block of cells may take of LIGHTS lights, written down by group of columns: for each light one triangle over the
// groups that cross the box round what it holds, and some beside them, which find that they do not. The groups of each
// light have rows of their own.
#include "lib/box.glsl"
#include "lib/nowhere.glsl"
#include "render/box_cells.glsl"
#include "lib/quotient.glsl"

uniform mat4 light_matrix[LIGHTS];  // place (cells) -> column (xy), depth (z), light cells
uniform vec2 light_first[LIGHTS];   // where the first column begins
uniform vec2 light_slope[LIGHTS];   // lateral place per layer, no component 0
uniform ivec3 light_axes[LIGHTS];   // the axis of columns, of rows and of the walk
uniform float light_scale[LIGHTS];  // light cells per cell
uniform vec2 group_count[LIGHTS];
uniform float group_row[LIGHTS];    // the first
uniform vec2 target_size;

// of the block, as that light sees it, light cells
flat out vec4 sides;   // between which columns and rows it lies at depth 0: low columns and rows, high columns and rows
flat out vec2 depths;  // between which it lies
flat out vec2 slope, first_column;
flat out float first_row;  // of its groups

float part(vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

void main() {
    int number = int(uint(gl_VertexID) / 3u), corner = gl_VertexID - 3 * number;
    int blocks = boxes_extent.x * boxes_extent.y * boxes_extent.z, light = quotient(number, blocks);
    ivec3 block = counted(number - light * blocks, boxes_extent);
    vec2 held = fetch_boxes(block).zw;
    sides = vec4(0.0);
    depths = slope = first_column = vec2(0.0);
    first_row = 0.0;
    gl_Position = NOWHERE;
    if (held.x < 0.0) return;
    vec3 low, high;
    box_cells(block, held, low, high);
    // a cell is sampled up to a cell from its middle
    low -= 0.5625;
    high += 0.5625;
    // at the sides the outermost cell holds on; a filter that rounds reads a trace of the one before it
    bvec3 at_low = lessThan(low, vec3(1.0)), at_high = greaterThan(high, vec3(cells) - 1.0);
    low = mix(low, vec3(0.0), at_low);
    high = mix(high, vec3(cells), at_high);

    mat4 matrix = light_matrix[light];
    ivec3 axes = light_axes[light];
    float scale = light_scale[light];
    sides = scale * vec4(part(low, axes.x), part(low, axes.y), part(high, axes.x), part(high, axes.y));
    sides += vec4(-0.05, -0.05, 0.05, 0.05);
    // and on beyond a side where light leaves
    slope = light_slope[light];
    vec2 before = BEYOND * vec2(at_low[axes.x] && slope.x < 0.0, at_low[axes.y] && slope.y < 0.0);
    vec2 beyond = BEYOND * vec2(at_high[axes.x] && slope.x > 0.0, at_high[axes.y] && slope.y > 0.0);
    sides += vec4(-before, beyond);
    float one = (matrix * vec4(low, 1.0)).z, other = (matrix * vec4(high, 1.0)).z;
    depths = vec2(min(one, other), max(one, other));
    first_column = light_first[light];
    first_row = group_row[light];

    vec2 column = (matrix * vec4(0.5 * (low + high), 1.0)).xy - 0.5 - first_column, size = vec2(GROUP_SIZE);
    vec3 half_size = 0.5 * (high - low);
    vec2 aside = abs(matrix[0].xy) * half_size.x + abs(matrix[1].xy) * half_size.y + abs(matrix[2].xy) * half_size.z + 0.05;
    vec2 least = clamp(floor((column - aside - before) / size), vec2(-1.0), group_count[light]);
    vec2 most = clamp(floor((column + aside + beyond) / size), vec2(-1.0), group_count[light]) + 1.0;
    // on beyond the groups where there is more room in the target, so that it seldom ends outside
    vec2 wide = 2.0 * (most - least), up = vec2(0.0, first_row);
    bvec2 back = greaterThan(least + most + 2.0 * up, target_size);
    vec2 group = mix(least, most, back) + up + mix(wide, -wide, back) * vec2(corner & 1, corner >> 1);
    gl_Position = vec4(2.0 * group / target_size - 1.0, 0.0, 1.0);
}
