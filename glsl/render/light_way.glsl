// The way the light FIELD travels; included once for each light.

uniform vec3 FIELD_direction;  // unit length, no component 0
