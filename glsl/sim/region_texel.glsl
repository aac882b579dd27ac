// An invocation for each value of a region.
uniform ivec3 region_low, region_high;  // the first value, and the one after the last along each axis

// texel: of this invocation's value. Return whether that is in the region.
bool of_region(out ivec2 texel) {
    ivec3 index = region_low + ivec3(gl_GlobalInvocationID);
    texel = cell_texel(index);
    return all(lessThan(index, region_high));
}
