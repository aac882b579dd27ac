// The surfaces of solids that the samples of a pixel show, see found_fragment.glsl.

uniform sampler2DMS surfaces;  // normals, as long as the number of the solid; depth, m in front of the eye
uniform vec2 numbers;          // of the solids that are meant: the first, and the one after the last

// 1 for those numbers that are meant.
vec4 meant(vec4 found) { return step(numbers.x - 0.5, found) * (1.0 - step(numbers.y - 0.5, found)); }
