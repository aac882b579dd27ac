// To which source a particle belongs, and how much of its life is over. Every particle lives as long as the others,
// but its turn comes at a moment of its own: shifted by the golden ratio from one to the next, so that a source sends
// them out evenly.

uniform sampler2D sources;   // five texels a source: three rows of its own space to cells; core and rounding, m;
                             // kind, first particle, number of the next source's first one, 0
uniform sampler2D looks;     // a texel a source: its colour
uniform int source_count;
uniform float clock;         // share of a life that is over, for a particle without a shift

vec4 source_row(int s, int row) { return texelFetch(sources, ivec2(row, s), 0); }

// -1 for a particle that no source sends out.
int source_of(int index) {
    for (int s = 0; s < source_count; ++s) {
        vec4 range = source_row(s, 4);
        if (index >= int(range.y) && index < int(range.z)) return s;
    }
    return -1;
}

float turn_of(int index) {
    return fract(clock + float((uint(index) * 2654435769u) >> 8u) / 16777216.0);
}
