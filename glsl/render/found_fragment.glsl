// A solid's surface, to be lit later: its normal, as long as the solid's number, and its depth in the middle of the pixel.
// Of the floor, which is number 0, the depth alone.

uniform vec4 to_depth;    // place (cells) -> m in front of the eye
uniform float number;
uniform vec2 floor_middle;  // cells
uniform float floor_reach;  // cells from there to where the floor is gone

in vec3 place, facing;
out vec4 surface_out;

void main() {
    if (number == 0.0 && length((place.xz - floor_middle) / floor_reach) >= 1.0) discard;
    surface_out = vec4(number * normalize(facing), dot(to_depth, vec4(place, 1.0)));
}
