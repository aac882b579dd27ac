// The cells of a span.
flat in float area;
out vec4 area_out;

void main() { area_out = vec4(area); }
