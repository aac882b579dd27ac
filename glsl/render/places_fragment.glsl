// Places in cells of a box that has gone on: they stay in the world. xyz: place, cells; w: as it was.
uniform sampler2D places;
uniform vec3 gone;  // cells

out vec4 place_out;

void main() { place_out = texelFetch(places, ivec2(gl_FragCoord.xy), 0) - vec4(gone, 0.0); }
