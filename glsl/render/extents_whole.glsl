// One rectangle round all that a slab shows, or that its bands are better drawn one by one: the opposite of the left
// end, the right end, and the first and last band; a last one below the first where bands leave enough out.

uniform sampler2D extents;   // by slab and band: the opposite of the left end, and the right end, -1 .. 1
uniform int band_count;

out vec4 whole_out;

const float WORTH = 0.6;     // share of the rectangle: a picture drawn in bands costs more for each pixel

void main() {
    int slab = int(gl_FragCoord.x);
    vec4 whole = vec4(-2.0, -2.0, 1.0, 0.0);
    float covered = 0.0;
    bool some = false;
    for (int n = 0; n < band_count; ++n) {
        vec2 ends = min(texelFetch(extents, ivec2(slab, n), 0).xy, vec2(1.0));
        if (ends.x + ends.y <= 0.0) continue;
        whole = vec4(max(whole.xy, ends), some ? whole.z : float(n), float(n));
        some = true;
        covered += ends.x + ends.y;
    }
    bool apart = covered < WORTH * (whole.x + whole.y) * (whole.w - whole.z + 1.0);
    whole_out = apart ? vec4(whole.xy, 1.0, 0.0) : whole;
}
