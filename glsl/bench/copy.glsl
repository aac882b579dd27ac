// A copy of a buffer, for the rate at which a GPU's cores read and write memory.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer One { vec4 one[]; };
layout(std430, binding = 1) writeonly buffer Other { vec4 other[]; };

void main() {
    uint first = gl_WorkGroupID.x * 1024u + gl_LocalInvocationID.x;
    for (uint n = first; n < first + 1024u; n += 256u) other[n] = one[n];
}
