// What radiance is as light of the screen. What is bright is shown much like what is four times as bright: a pixel that
// had the mean of the radiances of all that lies in it would look full at the edge of something bright, and that would go
// in steps. So it has the radiance that is shown as the mean of their light.
#include "render/filmic.glsl"

uniform float exposure;

vec3 shown(vec3 radiance) { return filmic(exposure * radiance); }

// What all lies between `low` and `high`. Of what is so bright or so dark that it is shown as the same, their light alone
// would not tell it.
vec3 radiance_shown_as(vec3 light, vec3 low, vec3 high) {
    return clamp(unfilmic(light) / max(exposure, 1e-30), low, high);
}
