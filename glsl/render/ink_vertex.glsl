// A rectangle of the picture, one pixel larger all round for its soft edge; an instance a thing.

uniform vec2 size;      // of the viewport, pixels
uniform float up;       // 1, or -1 where pixels are counted from above

in vec4 rectangle;      // low corner, size; pixels
in vec4 what;           // rectangle: radius of its corners; glyph: its tile (column, row), pixels a unit
in vec4 ink;            // colour as a screen shows it, opacity
in float kind;          // 0 rectangle, 1 glyph, 2 colour map from below up
out vec2 place;         // pixels from the middle of the rectangle
flat out vec2 half_size;
flat out vec4 about, tint;
flat out int sort;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    half_size = 0.5 * rectangle.zw;
    place = (2.0 * corner - 1.0) * (half_size + 1.0);
    about = what;
    tint = ink;
    sort = int(kind + 0.5);
    gl_Position = vec4((2.0 * (rectangle.xy + half_size + place) / size - 1.0) * vec2(1.0, up), 0.0, 1.0);
}
