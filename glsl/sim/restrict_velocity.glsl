// The velocity on a grid with half as many cells along each axis, m/s: what flows through a face of it is what flows
// through the finer ones that it is made of. Faces.
#include "lib/solids.glsl"

void kernel(ivec3 face) {
    vec3 u = vec3(0.0);
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
        ivec3 low = 2 * face, wide = 1 - step_along(axis);
#if DIMENSIONS == 2
        wide.z = 0;
#endif
        for (int z = 0; z <= wide.z; ++z)
            for (int y = 0; y <= wide.y; ++y)
                for (int x = 0; x <= wide.x; ++x)
                    u[axis] += fetch_fine_velocity(min(low + ivec3(x, y, z), fine_face_extent - 1))[axis];
    }
    velocity_out = vec4(constrained(face, u / float(1 << (DIMENSIONS - 1))), 0.0);
}
