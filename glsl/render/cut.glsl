// The cuts between slabs, at which rays are sampled.
// JITTERED: noise moves the cuts between thick slabs, which hides them.
#if JITTERED
#include "render/noise.glsl"
#endif

uniform vec4 cuts;      // where the first slab begins, how thick each is, how many a rectangle stands for, and all of them
#if JITTERED
uniform vec2 shifts;    // of the noise at the first cut, and from one to the next: evens it out along a ray
uniform float jitter;   // share of a slab within which a cut is moved

// Across the slabs, in the pixel's place in the picture.
float cut(int number) {
    float noise = blue_noise(gl_FragCoord.xy);
#if !FIRE  // alike in all cuts beside fire: else a flame's edge shows as noise
    noise = fract(noise + fract(shifts.x + shifts.y * float(number)));
#endif
    bool inner = number > 0 && number < int(cuts.w);
    return cuts.x + cuts.y * (float(number) + (inner ? jitter * (noise - 0.5) : 0.0));
}
#else
const float jitter = 0.0;

float cut(int number) { return cuts.x + cuts.y * float(number); }
#endif
