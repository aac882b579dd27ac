// How what is in a place (cells) looks to the camera.
#include "lib/cell_sample.glsl" for shaded
#include "render/unsoftened.glsl"
#include "render/edge.glsl"
#if FIRE
#include "render/heat_at.glsl"
#endif

struct Look {
    vec4 smoke;  // radiance per metre, extinction (1/m)
#if FIRE
    vec3 fire;   // radiance per metre
#if FIRE_SOFT
    vec3 heat;   // see heat_at.glsl
#endif
#endif
};

// What soft.glsl wrote, or shade.glsl where nothing is softened, between the cells. Light and extinction are looked up apart:
// the edge of dense smoke, where one falls within a cell and the other grows, would be shaded cell by cell otherwise. Colours
// that lie side by side go by their share.
vec4 smoke_at(vec3 place) {
    vec4 smoke = unsoftened(sample_shaded(place));
#if COLORED
    return smoke * edged(smoke.w);
#else
    smoke.w *= edged(smoke.w);
    return vec4(smoke.rgb * smoke.w, smoke.w);
#endif
}

Look look_at(vec3 place) {
#if FIRE_SOFT
    vec3 heat = heat_at(place);
    return Look(smoke_at(place), fire_of(heat), heat);
#elif FIRE
    return Look(smoke_at(place), fire_of(heat_at(place)));
#else
    return Look(smoke_at(place));
#endif
}

Look nothing() {
#if FIRE_SOFT
    return Look(vec4(0.0), vec3(0.0), vec3(0.0));
#elif FIRE
    return Look(vec4(0.0), vec3(0.0));
#else
    return Look(vec4(0.0));
#endif
}
