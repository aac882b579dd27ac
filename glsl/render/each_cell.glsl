// Writes what `of_cell` says of each cell that shows anything or lies near such, and 0 elsewhere.
// COMPUTED: in a dispatch over all cells, since there are GPUs with many times the cores for that than for drawing;
// SPARED: it leaves out what does not lie in the spans of occupied_spans.glsl, as spans_vertex.glsl does otherwise.
#include "lib/box.glsl"

vec4 of_cell(ivec3 cell);

#if COMPUTED
layout(local_size_x = GROUP, local_size_y = GROUP) in;

bool spared(ivec3 cell) {
#if SPARED
    vec4 span = fetch_spans(ivec3(cell.xy / (EDGE * ivec2(SPAN, ROWS)), cell.z));
    return any(lessThan(vec2(cell.xy), span.xz)) || any(greaterThanEqual(vec2(cell.xy), span.yw));
#else
    return false;
#endif
}

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    ivec3 cell = cell_index(texel);
    if (any(greaterThanEqual(cell, cells))) return;
    imageStore(cells_out, texel, spared(cell) ? vec4(0.0) : of_cell(cell));
}
#else
out vec4 cell_out;

void main() {
    ivec3 cell = cell_index(ivec2(gl_FragCoord.xy));
    cell_out = cell.z >= cells.z ? vec4(0.0) : of_cell(cell);
}
#endif
