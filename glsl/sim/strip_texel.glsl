// A workgroup for each piece of a span that is listed, an invocation for each of its cells.
#include "lib/box.glsl"
#include "lib/quotient.glsl"

// texel: of this invocation's cell. Return whether it is in the piece.
bool of_piece(out ivec2 texel) {
    int number = int(gl_WorkGroupID.y) * GROUPS_ACROSS + int(gl_WorkGroupID.x);
    ivec3 place = counted(number, piece_extent);
    texel = ivec2(0);
    if (place.z >= piece_extent.z) return false;  // the last row of workgroups may be longer than the list
    vec4 piece = fetch_listed(place);
    ivec3 cell = ivec3(piece.xyz) + ivec3(gl_LocalInvocationID.xy, 0);
    texel = cell_texel(cell);
    return float(cell.x) < piece.w && cell.y < cells.y;
}
