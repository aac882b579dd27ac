// Blue noise, 0 .. 1, by pixel: the tile that tools/blue_noise.py makes, side by side.

uniform sampler2D noise_tile;

float blue_noise(vec2 pixel) { return textureLod(noise_tile, pixel / 64.0, 0.0).x; }
