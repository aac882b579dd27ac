"""Layer 2: fields, passes and voxels in OpenGL."""
