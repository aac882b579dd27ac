// A mesh drawn once for every eight slices of the volume, each into their tile.

uniform mat4 to_box;         // mesh -> m from the low corner of the box
uniform int columns;         // tiles in a row of the flat texture
uniform ivec2 texture_size;  // texels

in vec3 position;
out vec3 place;              // cells from the low corner
flat out int octet;

void main() {
    octet = gl_InstanceID;
    place = (to_box * vec4(position, 1.0)).xyz / cell_size;
    vec2 texel = vec2(octet % columns, octet / columns) * vec2(cells.xy) + place.xy;
    gl_Position = vec4(2.0 * texel / vec2(texture_size) - 1.0, 0.0, 1.0);
}
