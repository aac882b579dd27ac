// Which of eight cells in a row have anything to show, and which stop light: a bit each, together as one number; of four
// rows above each other.
#include "lib/box.glsl"
#include "lib/finite.glsl"

uniform float faint;       // density up to which smoke neither shows nor stops light
#if FIRE
uniform vec3 fire_kelvin;  // K at temperature 0, K per temperature, K of the hottest
#endif

out vec4 rows_out;

bool over(float x, float least) { return x > least || is_nan(x); }  // what is no number is something

float row_of(int first, int y, int z) {
    int shown = 0, stopping = 0, count = min(cells.x - first, 8);
    for (int n = 0; n < count; ++n) {
        ivec3 cell = ivec3(first + n, y, z);
        vec4 here = fetch_scalars(cell);
        float density = here.x;
#if COLORED
        density = max(density, 0.0) + dot(max(fetch_color(cell).xyz, 0.0), vec3(1.0));
#endif
        bool smoke = over(density, faint), shows = smoke, stops = smoke;
#if FIRE
        shows = shows || over(min(fire_kelvin.x + fire_kelvin.y * here.y, fire_kelvin.z), GLOWS_FROM);
#if BURNING
        shows = shows || over(fetch_flame(cell).x, 0.0);
#endif
#endif
#if SOLIDS
        stops = stops || fetch_solid(cell).x > 0.0;
#endif
        shown |= int(shows) << n;
        stopping |= int(stops) << n;
    }
    return float(shown | stopping << 8);
}

void main() {
    ivec3 at = rows_index(ivec2(gl_FragCoord.xy));
    rows_out = vec4(0.0);
    if (at.z >= cells.z) return;
    for (int n = 0, first = 4 * at.y, count = min(cells.y - first, 4); n < count; ++n)
        rows_out = mix(rows_out, vec4(row_of(8 * at.x, first + n, at.z)), equal(ivec4(0, 1, 2, 3), ivec4(n)));
}
