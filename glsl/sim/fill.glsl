// The same in every texel of `filled`. Not by a clear: some GPUs compute with all their cores and draw with few.
uniform vec4 value;

void main() { imageStore(filled, ivec2(gl_GlobalInvocationID.xy), value); }  // what lies outside is left out
