// The same as past_smoke.glsl and glow_at.glsl for the floor in a pixel, by what was gathered there from all boxes, see
// floor_shares.glsl and floor_fire.glsl. place: read by none of them.
#if OTHERS
#include "render/other_lights.glsl"
#endif

uniform sampler2D floor_shares;
#if OTHERS
uniform sampler2D floor_lamps;
#endif
#if FIRE
uniform sampler2D floor_fire;
#endif
uniform float brightest;     // that the picture holds

vec4 gathered(sampler2D from) { return texelFetch(from, ivec2(gl_FragCoord.xy), 0); }

float sun_past_smoke(vec3 place) { return gathered(floor_shares).x; }
float shade_from_above(vec3 place) { return 1.0 - gathered(floor_shares).y; }
#if OTHERS
float other_past_smoke(int lamp, vec3 place) { return gathered(floor_lamps)[lamp]; }
#endif
#if FIRE
vec3 glow_on(vec3 place, vec3 n) { return min(gathered(floor_fire).xyz, brightest); }
#endif
