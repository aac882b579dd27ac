// A solid's surface as the sun sees it.

uniform mat4 to_clip;

in vec3 position;

void main() { gl_Position = to_clip * vec4(position, 1.0); }
