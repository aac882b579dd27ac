// Where in the target of `target_size` texels a vertex lies, for the fragments to know their texel by: a software
// renderer takes longer to say gl_FragCoord, whose direction it asks for in each fragment.
uniform ivec2 rows_left_out;        // of the target: below and above what is drawn
noperspective out vec2 texel_place;

vec4 placed(vec4 position) {
    vec2 share = 0.5 * position.xy + 0.5, rows = vec2(rows_left_out);
    texel_place = vec2(share.x * float(target_size.x), mix(rows.x, float(target_size.y) - rows.y, share.y));
    return position;
}
