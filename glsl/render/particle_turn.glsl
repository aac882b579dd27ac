// To which source a particle belongs, and how much of its life is over. Every particle lives as long as the others,
// but its turn comes at a moment of its own: shifted by the golden ratio from one to the next, so that a source sends
// them out evenly.

uniform sampler2D sources;   // six texels a source: three rows of its own space to cells; core and rounding, m;
                             // kind, -1 while it lets none be born, first particle, number of the next source's first
                             // one, 1 where it says how fast they are born; that velocity, and how much it differs from
                             // one to the next, m/s
uniform sampler2D looks;     // two texels a source, one above the other: its colour at birth and in the end
uniform int source_count;
uniform float clock;         // share of a life that is over, for a particle without a shift
uniform float vary;          // the diameters lie between 1 - vary and 1 + vary

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

// The diameter of a particle, as a multiple of what all have together; also evenly spread, by another ratio.
float grain_of(int index) {
    return 1.0 + vary * (float((uint(index) * 3242174889u) >> 8u) / 8388608.0 - 1.0);
}
