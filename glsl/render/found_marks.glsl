// Depths that tell what of a pixel solids cover: 1: nothing, 0: all of it, that of the triangle itself: some.
#include "render/found.glsl"

void main() {
    float covered = dot(meant(found().numbers), vec4(1.0));
    gl_FragDepth = covered == 0.0 ? 1.0 : covered < 4.0 ? gl_FragCoord.z : 0.0;
}
