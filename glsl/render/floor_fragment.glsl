// Depth of the floor, where the middle of the pixel shows it, see studio.glsl.

in vec2 aside;  // of the floor's middle, in reaches

uniform bool middles;  // in place of the depth of one of the pixel's samples alone, if that is the floor's too
uniform sampler2DMS solid_depth;

const float ROUNDING = 2e-7;

void main() {
    float slope = fwidth(gl_FragCoord.z);
    if (middles && abs(texelFetch(solid_depth, ivec2(gl_FragCoord.xy), 0).x - gl_FragCoord.z) > slope + ROUNDING)
        discard;
    if (length(aside) >= 1.0) discard;
}
