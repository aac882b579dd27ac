// The spans of strips in pieces, a workgroup's work each, in no order: the first cell, its row, its slice, and the cell
// after the last. And how many workgroups along x, y and z that makes, GROUPS_ACROSS in a row at most.
// Behind the last there may be pieces of an earlier stage: to write them again does no harm.
#include "lib/quotient.glsl"

layout(rgba32f, binding = LISTED) writeonly restrict uniform image2D listed;
layout(r32ui, binding = COUNTED) coherent restrict uniform uimage2D groups;  // along x, y, z, and pieces so far

void list_pieces(vec4 span, int slice) {
    for (float row = span.z; row < span.w; row += float(PIECE_ROWS))
        for (float first = span.x; first < span.y; first += float(PIECE)) {
            uint place = imageAtomicAdd(groups, ivec2(3, 0), 1u);
            imageStore(listed, piece_texel(counted(int(place), piece_extent)), vec4(first, row, slice, min(first + float(PIECE), span.y)));
            imageAtomicMax(groups, ivec2(0, 0), min(place + 1u, uint(GROUPS_ACROSS)));
            imageAtomicMax(groups, ivec2(1, 0), place / uint(GROUPS_ACROSS) + 1u);
        }
}
