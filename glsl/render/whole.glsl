// Whether so many cells show something, see occupied_spans.glsl, that one triangle over all is drawn: where there are few
// others that is faster for each texel.
uniform float worth;         // cells from which on it is

bool whole() { return fetch_spans(ivec3(0, 0, spans_extent.z - 1)).x >= worth; }

// The corners of the one triangle; the vertices behind them are nowhere.
vec4 whole_corner() {
    return vec4(gl_VertexID < 3 ? vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0 : vec2(2.0), 0.0, 1.0);
}
