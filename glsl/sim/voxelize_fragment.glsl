// +1 for each front face above a cell's centre, -1 for each back face; blending adds them.

uniform int columns;  // tiles in a row of the flat texture

in vec3 place;        // cells from the low corner
flat in int slice;
out vec4 count;

void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy) - ivec2(slice % columns, slice / columns) * cells.xy;
    bool in_tile = all(greaterThanEqual(cell, ivec2(0))) && all(lessThan(cell, cells.xy));
    if (!in_tile || place.z <= float(slice) + 0.5) discard;
    count = vec4(gl_FrontFacing ? 1.0 : -1.0);
}
