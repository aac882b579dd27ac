// A solid's surface in the scene.

uniform mat4 to_cells;    // mesh -> cells from the low corner of the box
uniform mat4 to_clip;     // cells -> clip space
uniform mat4 normals;     // mesh -> world, for normals

in vec3 position;
in vec3 normal;
invariant gl_Position;   // light is added where the very same surface is drawn again
out vec3 place, facing;   // cells; not unit length

void main() {
    vec4 at = to_cells * vec4(position, 1.0);
    place = at.xyz;
    facing = mat3(normals) * normal;
    gl_Position = to_clip * at;
}
