// A thin soft gloss over a surface: the microfacet distribution of Trowbridge & Reitz (1975), the visibility of Kelemen &
// Szirmay-Kalos (2001), the Fresnel term of Schlick (1994); of light from all round, the fit of Karis (2014).

const float ROUGHNESS = 0.38, GLOSS = 0.04;  // of the gloss; what it reflects head on

// Share of light from all round that the gloss throws back to where `nv` is the cosine of the way out.
float gloss_all_round(float nv) {
    const vec4 A = vec4(-1.0, -0.0275, -0.572, 0.022), B = vec4(1.0, 0.0425, 1.04, -0.04);
    vec4 r = ROUGHNESS * A + B;
    float grazing = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    return GLOSS * (r.z - 1.04 * grazing) + r.w + 1.04 * grazing;
}

// The same of a light in one direction, as a share of the radiance that it gives a white matt surface, so times pi.
// n: normal; v, towards: the ways to the viewer and to the light; of unit length.
float gloss_of(vec3 n, vec3 v, vec3 towards) {
    vec3 h = v + towards;
    h *= inversesqrt(max(dot(h, h), 1e-20));  // 0 where one looks right into the light
    float nh = max(dot(n, h), 0.0), vh = clamp(dot(v, h), 1e-3, 1.0);
    float a2 = ROUGHNESS * ROUGHNESS * ROUGHNESS * ROUGHNESS, d = nh * nh * (a2 - 1.0) + 1.0;
    float fresnel = GLOSS + (1.0 - GLOSS) * pow(1.0 - vh, 5.0);
    return a2 / (d * d) * 0.25 / (vh * vh) * fresnel;
}
