// The corners of what a block holds, a texel each; blending keeps the largest.
flat in vec3 shown_low, shown_high, stopping_low, stopping_high;
out vec4 end_out;

void main() {
    int n = int(gl_FragCoord.x);
    end_out = vec4(n == 0 ? shown_low : n == 1 ? shown_high : n == 2 ? stopping_low : stopping_high, 0.0);
}
