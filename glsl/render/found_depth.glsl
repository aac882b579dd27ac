// The depth of a pixel's first sample.

uniform sampler2DMS solid_depth;

void main() { gl_FragDepth = texelFetch(solid_depth, ivec2(gl_FragCoord.xy), 0).x; }
