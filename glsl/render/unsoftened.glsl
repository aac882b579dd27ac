// How cells look, from what soft.glsl has written of that: what shade.glsl says, light and extinction.
// SOFTENED: there are the roots of both, or of colours the radiance that is left to multiply by that of the extinction.
// Light that grazes a surface ends within a cell: its root, as that of the smoke, begins and ends more evenly.

vec4 unsoftened(vec4 look) {
#if SOFTENED
#if COLORED
    look.rgb *= look.w;
#else
    look.rgb *= look.rgb;
#endif
    look.w *= look.w;
#endif
    return look;
}
