"""The contract in OpenGL: fields, passes, voxels; and the manners of a guest in a context of others."""
