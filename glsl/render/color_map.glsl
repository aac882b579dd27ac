// A colour map of 256 colours.

uniform sampler2D colors;

// The colour of `share`, 0 .. 1, of the range that is shown.
vec3 mapped_color(float share) { return textureLod(colors, vec2(mix(0.5, 255.5, share) / 256.0, 0.5), 0.0).rgb; }
