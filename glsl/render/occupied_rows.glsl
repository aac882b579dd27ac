// Which of eight cells in a row have anything to show, and which stop light: a bit each, together as one number.
#include "lib/box.glsl"

uniform float faint;       // density up to which smoke neither shows nor stops light
#if FIRE
uniform vec3 fire_kelvin;  // K at temperature 0, K per temperature, K of the hottest
#endif

out float row_out;

void main() {
    ivec3 row = rows_index(ivec2(gl_FragCoord.xy));
    row_out = 0.0;
    if (row.z >= cells.z) return;
    int shown = 0, stopping = 0, first = 8 * row.x, count = min(cells.x - first, 8);
    for (int n = 0; n < count; ++n) {
        ivec3 cell = ivec3(first + n, row.yz);
        vec4 here = fetch_scalars(cell);
        float density = here.x;
#if COLORED
        density = max(density, 0.0) + dot(max(fetch_color(cell).xyz, 0.0), vec3(1.0));
#endif
        bool smoke = !(density <= faint), shows = smoke, stops = smoke;  // NaN is something
#if FIRE
        shows = shows || !(min(fire_kelvin.x + fire_kelvin.y * here.y, fire_kelvin.z) <= GLOWS_FROM);
#if BURNING
        shows = shows || !(fetch_flame(cell).x <= 0.0);
#endif
#endif
#if SOLIDS
        stops = stops || fetch_solid(cell).x > 0.0;
#endif
        shown |= int(shows) << n;
        stopping |= int(stops) << n;
    }
    row_out = float(shown | stopping << 8);
}
