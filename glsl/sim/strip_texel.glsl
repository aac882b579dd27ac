// A workgroup for each strip that is listed, an invocation for each of its cells.
#include "lib/box.glsl"
#include "lib/quotient.glsl"

// texel: of this invocation's cell. Return whether it is in the strip's span.
bool of_strip(out ivec2 texel) {
    int number = int(gl_WorkGroupID.y) * GROUPS_ACROSS + int(gl_WorkGroupID.x);
    vec4 listed = fetch_listed(counted(number, strip_extent));
    ivec3 strip = counted(int(listed.x + 0.5), strip_extent);
    ivec3 cell = strip * ivec3(STRIP_WIDTH, STRIP_ROWS, 1) + ivec3(gl_LocalInvocationID.xy, 0);
    texel = cell_texel(cell);
    return listed.w > 0.5 && cell.y < cells.y && float(cell.x) >= listed.y && float(cell.x) < listed.z;
}
