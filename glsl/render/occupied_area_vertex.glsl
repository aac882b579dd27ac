// The cells of each span of occupied_spans.glsl: a triangle over the one texel for each, which blending adds up.

flat out float area;

void main() {
    int number = gl_VertexID / 3, corner = gl_VertexID % 3;
    vec4 span = fetch_spans(ivec3(number % spans_extent.x, number / spans_extent.x % spans_extent.y, number / (spans_extent.x * spans_extent.y)));
    area = (span.y - span.x) * (span.w - span.z);
    gl_Position = vec4(area > 0.0 ? vec2(corner & 1, corner >> 1) * 4.0 - 1.0 : vec2(2.0), 0.0, 1.0);
}
