// A texture of floats between the centres of its texels: by the driver, or by hand where that does not interpolate.
// place: 0 .. 1 across the texture; past the outermost centres the outermost texels hold.

vec4 between(sampler2D texels, vec2 place) {
#if FILTERING
    return textureLod(texels, place, 0.0);
#else
    ivec2 last = textureSize(texels, 0) - 1;
    vec2 at = place * vec2(last + 1) - 0.5, share = fract(at);
    ivec2 a = clamp(ivec2(floor(at)), ivec2(0), last), b = clamp(ivec2(floor(at)) + 1, ivec2(0), last);
    return mix(
        mix(texelFetch(texels, a, 0), texelFetch(texels, ivec2(b.x, a.y), 0), share.x),
        mix(texelFetch(texels, ivec2(a.x, b.y), 0), texelFetch(texels, b, 0), share.x), share.y);
#endif
}
