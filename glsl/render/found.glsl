// The surfaces of solids that the four samples of a pixel show, see found_fragment.glsl.

uniform sampler2DMS surfaces;  // normals, as long as the number of the solid; depth, m in front of the eye
uniform vec2 numbers;          // of the solids that are meant: the first, and the one after the last

struct Four {
    mat4 surfaces;
    vec4 numbers;
};

Four found() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    Four four;
    for (int n = 0; n < 4; ++n) {
        four.surfaces[n] = texelFetch(surfaces, here, n);
        four.numbers[n] = length(four.surfaces[n].xyz);
    }
    return four;
}

// 1 for those numbers that are meant.
vec4 meant(vec4 found) { return step(numbers.x - 0.5, found) * (1.0 - step(numbers.y - 0.5, found)); }
