// How much of the matter in a place (cells) shows and stops light: towards the open sides of the box ever less.
// FADES: a bit for each side at which there is none left, x-, x+, y-, y+, z-, z+.
#if FADES
uniform float fade_rate;  // one by the cells over which it thins out
uniform vec3 fade_low;    // cells from such a side of the box on in which there is none
uniform vec3 fade_high;

const vec3 kept_low = vec3((FADES & 1) == 0, (FADES & 4) == 0, (FADES & 16) == 0);
const vec3 kept_high = vec3((FADES & 2) == 0, (FADES & 8) == 0, (FADES & 32) == 0);

float fade(vec3 place) {
    vec3 low = (place - fade_low) * fade_rate + kept_low;
    vec3 high = (vec3(cells) - fade_high - place) * fade_rate + kept_high;
    vec3 share = clamp(min(low, high), 0.0, 1.0);
    share *= share * (3.0 - 2.0 * share);
    return share.x * share.y * share.z;
}
#else
float fade(vec3 place) { return 1.0; }
#endif
