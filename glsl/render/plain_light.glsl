// How the views light a surface: a key light that goes with the viewer, light from above and below, a thin rim.
// Colours as a screen shows them: this is to read shapes by, not to measure light.

uniform vec3 key_way;    // towards the light, unit length

vec3 plainly_lit(vec3 color, vec3 n, vec3 to_viewer) {
    float key = max(dot(n, key_way), 0.0), around = 0.5 + 0.5 * n.y;
    float rim = pow(1.0 - clamp(dot(n, to_viewer), 0.0, 1.0), 4.0);
    vec3 h = normalize(key_way + to_viewer);
    float gloss = 0.18 * pow(max(dot(n, h), 0.0), 40.0);
    vec3 lit = color * (0.30 + 0.20 * around + 0.58 * key) + gloss + 0.10 * rim;
    return min(lit, vec3(1.0));
}
