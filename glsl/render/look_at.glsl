// How what is in a place (cells) looks to the camera: radiance per metre, smoke's and fire's, and extinction (1/m).
#include "lib/cell_sample.glsl" for shaded
#include "render/edge.glsl"
#if FIRE
#include "render/fire_at.glsl"
#endif

vec4 look_at(vec3 place) {
    vec4 look = sample_shaded(place);
    look *= edged(look.w);
#if FIRE
    look.rgb += fire_at(place);
#endif
    return look;
}
