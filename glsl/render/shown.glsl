// What radiance is as light of the screen. What is bright is shown much like what is four times as bright: a pixel that
// had the mean of the radiances of all that lies in it would look full at the edge of something bright, and that would go
// in steps. So it has the radiance that is shown as the mean of their light.
#include "render/filmic.glsl"

uniform float exposure;

vec3 shown(vec3 radiance) { return filmic(exposure * radiance); }

// Rounded by more, the brighter it is: it stays below the largest half float.
vec3 radiance_shown_as(vec3 light) { return min(unfilmic(light) / exposure, 6e4); }
