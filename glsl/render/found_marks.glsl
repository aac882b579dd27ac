// Depths that mark where solids are to be lit: there that of the triangle itself, elsewhere 1.
#include "render/found.glsl"

void main() { gl_FragDepth = meant(found().numbers) == vec4(0.0) ? 1.0 : gl_FragCoord.z; }
