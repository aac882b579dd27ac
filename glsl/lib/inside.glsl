// Which cells have their centre inside an obstacle, or on its surface.
#include "lib/octet.glsl"
#include "lib/shape.glsl"

uniform int shape;         // kind of the form, see shape.glsl; 3: a mesh (`winding` counts its surfaces)
uniform mat4 to_local;     // m from the low corner of the box -> the form's own space; of a mesh: to its middle
uniform vec3 extent;       // core of the form, m; half the bounds of a mesh, outside which nothing is solid
uniform float rounding;    // of the form, m, and a trace more: a centre so close to the surface is on it

// Surfaces of the mesh above a cell's centre, those that face up less those that face down.
float surfaces_above(ivec3 cell) { return of_octet(fetch_winding(ivec3(cell.xy, cell.z >> 3)), cell.z); }

bool is_inside(ivec3 cell, vec4 place) {
    vec3 v = beyond(shape, (to_local * place).xyz, extent);
    return dot(v, v) <= rounding * rounding && (shape != 3 || abs(surfaces_above(cell)) > 0.5);
}
