// How far a solid's surface goes, where the middle of the pixel shows it.

in vec4 way;
out vec4 travel_out;

uniform sampler2D scene_depth;  // one sample a pixel, perhaps not in its middle

const float ROUNDING = 2e-7;

void main() {
    float slope = fwidth(gl_FragCoord.z);
    if (texelFetch(scene_depth, ivec2(gl_FragCoord.xy), 0).x < gl_FragCoord.z - slope - ROUNDING) discard;
    travel_out = way;
}
