// What of a strip of cells counts: a span, the first cell along x and the one after the last, the first row and the one
// after the last, in cells of the box; NOTHING where there is none. Spans are kept two to a texel: of each its low and
// its high corner, counted from the strip's own, as one number.

const vec4 NOTHING = vec4(1e6, -1e6, 1e6, -1e6);
const float ROW = 128.0, PER_ROW = 0.0078125;  // above the cells along x of a strip, a power of two; its inverse: no product is rounded

vec4 joined(vec4 a, vec4 b) { return vec4(min(a.xz, b.xz), max(a.yw, b.yw)).xzyw; }

vec2 corners_of(vec4 span, ivec2 first) {
    return span.x < span.y ? vec2(span.xy - float(first.x)) + ROW * (span.zw - float(first.y)) : vec2(0.0);
}

vec4 span_between(vec2 corners, ivec2 first) {
    vec2 row = floor(corners * PER_ROW), cell = corners - ROW * row;
    return cell.x < cell.y ? vec4(cell, row) + vec2(first).xxyy : NOTHING;
}
