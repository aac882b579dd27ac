// A solid's surface, to be lit later: its normal, as long as the solid's number, and its depth in the middle of the pixel.

uniform vec4 to_depth;    // place (cells) -> m in front of the eye
uniform float number;     // 1 or more

in vec3 place, facing;
out vec4 surface_out;

void main() { surface_out = vec4(number * normalize(facing), dot(to_depth, vec4(place, 1.0))); }
