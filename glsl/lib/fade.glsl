// What smoke loses in a step.

uniform vec3 keep;      // share kept of density, of temperature above ambient, of fuel
uniform float ambient;  // temperature of the surroundings

vec3 faded(vec3 scalars) {
    vec3 rest = vec3(0.0, ambient, 0.0);
    return rest + (scalars - rest) * keep;
}
