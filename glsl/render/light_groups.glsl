// The workgroups of light_walk.glsl from the first to the last with a column that may meet anything, or might in the walk
// before: how many across and down, 1, and which is the first, its row in the upper half.

uniform sampler2D light_reach, light_before;  // by group of columns, see light_reach_fragment.glsl
uniform ivec2 first_group, group_count;  // of the light, in the two

out uvec4 groups_out;

void main() {
    ivec2 low = group_count, high = ivec2(-1), at = ivec2(0);
    do {
        at.x = 0;
        do {
            vec2 reach = max(texelFetch(light_reach, first_group + at, 0).xy, texelFetch(light_before, first_group + at, 0).xy);
            bool some = -reach.x <= reach.y;
            low = min(low, some ? at : group_count);
            high = max(high, some ? at : ivec2(-1));
        } while (++at.x < group_count.x);
    } while (++at.y < group_count.y);
    low = low * GROUP_SIZE / GROUP;
    high = (high * GROUP_SIZE + GROUP_SIZE - 1) / GROUP;
    ivec2 count = any(lessThan(high, low)) ? ivec2(0) : high - low + 1;
    groups_out = uvec4(count, 1, low.x | low.y << 16);
}
