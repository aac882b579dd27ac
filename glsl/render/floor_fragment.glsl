// Depth of the floor, where the middle of the pixel shows it, see studio.glsl.
// MIDDLES: in place of the depth of one of the pixel's samples, if that is the floor's too.

in vec2 aside;  // of the floor's middle, in reaches

#if MIDDLES
uniform sampler2DMS solid_depth;

const float ROUNDING = 2e-7;
#endif

void main() {
#if MIDDLES
    float slope = fwidth(gl_FragCoord.z), off = texelFetch(solid_depth, ivec2(gl_FragCoord.xy), 0).x - gl_FragCoord.z;
    if (abs(off) > slope + ROUNDING) discard;
#endif
    if (length(aside) >= 1.0) discard;
}
