// How far a limiter goes from a sample towards the values round its place: all the way, but for values that next to
// nothing of the sample is made of. Rounding decides on which side of a value a place beside it lies, and in air that
// goes along an axis all places lie beside values.

// share: of the sample, along one axis; from a quarter on it is all the way.
float reach(float share) { return clamp(4.0 * share, 0.0, 1.0); }

vec3 reach(vec3 share) { return clamp(4.0 * share, 0.0, 1.0); }
